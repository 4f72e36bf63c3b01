package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/tests/golden"
)

// ends is a Runner whose commands end as it says, without running anything.
type ends struct {
	each func(ctx context.Context, spec process.Spec) (process.Result, error)

	mu    sync.Mutex
	specs []process.Spec
}

func (e *ends) Run(ctx context.Context, spec process.Spec) (process.Result, error) {
	e.mu.Lock()
	e.specs = append(e.specs, spec)
	e.mu.Unlock()
	return e.each(ctx, spec)
}

// as is a Runner of which every command ends like this.
func as(result process.Result) *ends {
	return &ends{each: func(context.Context, process.Spec) (process.Result, error) { return result, nil }}
}

// openBy makes a sandbox whose commands go to a Runner; change, nil for none, adapts its Maker.
func openBy(t *testing.T, runner sandbox.Runner, change func(*sandbox.Maker)) *sandbox.Box {
	t.Helper()
	box, _ := open(t, files{"outputs/a": ""}, func(m *sandbox.Maker) {
		m.Runner = runner
		if change != nil {
			change(m)
		}
	})
	return box
}

// command is a check that a command ends well.
func command(text string) format.Check {
	return format.Check{Kind: format.CommandCheck, Command: text, ExpectExitZero: true}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	outside := newDir(t, files{"secret": "needle\n"})
	box, in := open(t, files{"a.txt": "a needle here\n", "dir/b.txt": "b\n"}, nil)
	in.put(files{
		"new.txt": "added line\n", "script.sh": "exit 0\n", "leak": "-> " + outside.at("secret"),
		"leakdir": "-> " + outside.path, "inside": "-> a.txt",
	})
	changes, err := box.Changes(t.Context())
	require.NoError(t, err)
	const leaves = "it cannot be looked at inside the sandbox: path escapes from parent"
	for words, why := range map[string]string{
		"fileExists a.txt":                   "",
		"fileExists dir":                     "",
		"fileExists none":                    "there is no such file",
		"fileExists leak":                    leaves,
		"fileContains a.txt needle":          "",
		"fileContains inside needle":         "",
		"fileContains leak needle":           leaves,
		"fileContains leakdir/secret needle": leaves,
		"fileContains a.txt hay":             `it does not contain "hay"`,
		"fileContains dir x":                 "it is no regular file",
		"fileNotContains a.txt hay":          "",
		"fileNotContains a.txt needle":       `it contains "needle"`,
		"fileNotContains none needle":        "there is no such file",
		"regexMatch a.txt n.{3}le":           "",
		"regexMatch a.txt ^x":                "nothing in it matches ^x",
		"diffContains - added":               "",
		"diffContains - needle":              "the diff does not contain it",
		"testSuite true":                     "",
		"command grep -q needle a.txt":       "",
		"command ./script.sh":                "exit code 126: the command cannot be executed",
	} {
		kind, rest, _ := strings.Cut(words, " ")
		path, text, _ := strings.Cut(rest, " ")
		check := format.Check{
			Kind: format.CheckKind(kind), Path: path, Substring: text, Pattern: regexp.MustCompile(text), Command: rest,
			ExpectExitZero: true,
		}
		results, err := box.Check(t.Context(), []format.Check{check}, changes, time.Minute)
		require.NoError(t, err)
		require.Len(t, results, 1)
		assert.True(t, strings.HasPrefix(results[0].Detail, why), "%s: %s", words, results[0].Detail)
		assert.Equal(t, why == "", results[0].Detail == "", words)
		assert.Equal(t, why == "", results[0].Passed, words)
	}
	require.NoError(t, os.Rename(box.Dir, box.Dir+"-moved"))
	require.NoError(t, os.Symlink(newDir(t, files{"a": "1"}).path, box.Dir))
	results, err := box.Check(t.Context(), []format.Check{command("true"), {Kind: format.FileExists, Path: "a"}}, changes,
		time.Minute)
	require.NoError(t, err)
	for _, result := range results {
		assert.Contains(t, result.Detail, "removed or exchanged")
	}
}

// TestHowChecksAreRun: each command has the sandbox as its directory, a home of its own,
// and of the time what the ones before it left.
func TestHowChecksAreRun(t *testing.T) {
	t.Parallel()
	took := []time.Duration{10 * time.Second, 25 * time.Second, 25 * time.Second, 0}
	runner := &ends{}
	runner.each = func(context.Context, process.Spec) (process.Result, error) {
		return process.Result{Duration: took[len(runner.specs)-1]}, nil
	}
	box := openBy(t, runner, func(m *sandbox.Maker) {
		m.Offline = true
		m.Environ = func(home string, names []string) ([]string, error) {
			return append([]string{"HOME=" + home}, names...), nil
		}
	})
	results, err := box.Check(t.Context(), []format.Check{
		command("one"),
		{Kind: format.DiffContains, Substring: "x"},
		{Kind: format.TestSuiteCheck, Command: "two"},
		command("three"), command("four"),
		{Kind: format.FileExists, Path: "outputs"},
	}, sandbox.Changes{Diff: "+x"}, time.Minute)
	require.NoError(t, err)
	var said []string
	for _, result := range results {
		said = append(said, fmt.Sprintf("%s %s %v %s", result.Kind, result.Name, result.Passed, result.Detail))
	}
	golden.Row(t, "in their order, and what runs nothing needs no time", strings.Join(said, "; "))
	why, err := box.Shell(t.Context(), 6, "five", 7*time.Second)
	require.NoError(t, err)
	assert.Empty(t, why)
	outputs := filepath.Join(box.Dir, "outputs")
	spec := func(text, dir string, home, left int, more ...string) process.Spec {
		return process.Spec{
			Args: []string{"sh", "-c", text}, Dir: dir, Timeout: time.Duration(left) * time.Second, OutputCap: 1 << 20,
			Offline: true, // checks have no network where that can be kept from them
			// The repository around the sandbox is not its own.
			Env: append([]string{
				fmt.Sprintf("HOME=%s/check-%d", box.Base, home), "SEEN=1", "GIT_CEILING_DIRECTORIES=" + box.Base,
			}, more...),
		}
	}
	assert.Equal(t, []process.Spec{
		spec("one", box.Dir, 1, 60), spec("two", box.Dir, 3, 50), spec("three", box.Dir, 4, 25),
		spec("five", outputs, 7, 7, "OUTPUTS_DIR="+outputs),
	}, runner.specs)
}

// TestChecksThatCannotBeRun are errors, and no result of the agent's.
func TestChecksThatCannotBeRun(t *testing.T) {
	t.Parallel()
	broken, stopped := errors.New("broken"), errors.New("stopped")
	fails := func(func(error)) (process.Result, error) { return process.Result{}, broken }
	for _, c := range []struct {
		each   func(stop func(error)) (process.Result, error)
		change func(*sandbox.Maker)
		is     error
	}{
		{fails, nil, broken},
		{fails, func(m *sandbox.Maker) { // no home
			environ := m.Environ
			m.Environ = func(home string, names []string) ([]string, error) {
				if strings.HasPrefix(filepath.Base(home), "check-") {
					return nil, stopped
				}
				return environ(home, names)
			}
		}, stopped},
		{func(stop func(error)) (process.Result, error) { // with the comparison
			stop(stopped)
			return process.Result{ExitCode: -1, Cancelled: true}, nil
		}, nil, stopped},
	} {
		ctx, stop := context.WithCancelCause(t.Context())
		box := openBy(t, &ends{each: func(context.Context, process.Spec) (process.Result, error) {
			return c.each(stop)
		}}, c.change)
		results, err := box.Check(ctx, []format.Check{command("x")}, sandbox.Changes{}, time.Minute)
		require.ErrorIs(t, err, c.is)
		assert.Nil(t, results)
		why, err := box.Shell(ctx, 0, "x", time.Minute)
		require.ErrorIs(t, err, c.is)
		assert.Empty(t, why)
		_, err = box.Check(ctx, []format.Check{{Kind: format.FileExists, Path: "outputs"}}, sandbox.Changes{}, time.Minute)
		require.ErrorIs(t, err, context.Cause(ctx), "once it is stopped no further check is looked at")
		stop(nil)
	}
}

// TestHowACommandEnds: a command that we or the system ended has not answered the
// question, whatever it is asked for; of one that ended by itself the exit code decides.
func TestHowACommandEnds(t *testing.T) {
	t.Parallel()
	const same = "same"
	for name, c := range map[string]struct {
		result process.Result
		says   string // where exit code 0 is expected
		not    string // where another one is
	}{
		"well":             {process.Result{}, "", "exit code 0, where another one is expected"},
		"badly":            {process.Result{ExitCode: 1}, "exit code 1", ""},
		"its largest code": {process.Result{ExitCode: 255}, "exit code 255", ""},
		"not executable":   {process.Result{ExitCode: 126}, "exit code 126: the command cannot be executed", same},
		"not found":        {process.Result{ExitCode: 127}, "exit code 127: the command was not found", same},
		"a signal inside":  {process.Result{ExitCode: 137}, "exit code 137: the command was ended by signal 9", same},
		"a signal":         {process.Result{ExitCode: -1, Signal: "SIGKILL"}, "it was ended by SIGKILL", same},
		"time, and well":   {process.Result{TimedOut: true}, "it was ended: the task's time was up", same},
		"it took too much": {process.Result{ExitCode: 1, Exceeded: "too many"}, "it was ended: too many", same},
		"and it went on":   {process.Result{Exceeded: "too many"}, "it was ended: too many", same},
		"no shell":         {process.Result{ExitCode: 127, NotFound: true}, "there is no shell `sh` to run it with", same},
	} {
		for says, last := range map[string]process.Result{
			"":            {Stderr: []byte(" \n\t\n")},
			"last words":  {Stdout: []byte("out\n"), Stderr: []byte("first\nlast words\n\n")},
			"last of out": {Stdout: []byte("out\nlast of out\n")},
		} {
			c.result.Stdout, c.result.Stderr = last.Stdout, last.Stderr
			box, want, not := openBy(t, as(c.result), nil), c.says, c.not
			if want != "" && says != "" && !c.result.NotFound {
				want += ": " + says
			}
			if not == same {
				not = want
			}
			results, err := box.Check(t.Context(), []format.Check{
				command("x"), {Kind: format.TestSuiteCheck, Command: "x"}, {Kind: format.CommandCheck, Command: "x"},
			}, sandbox.Changes{}, time.Minute)
			require.NoError(t, err)
			for i, want := range []string{want, want, not} {
				assert.Equal(t, want, results[i].Detail, name)
				assert.Equal(t, want == "", results[i].Passed)
			}
			shell, err := box.Shell(t.Context(), 0, "x", time.Minute)
			require.NoError(t, err)
			if c.result.TimedOut {
				want = "it took longer than 1m0s"
			}
			assert.Equal(t, want, shell, "%s: a check of outputs/ too", name)
		}
	}
}
