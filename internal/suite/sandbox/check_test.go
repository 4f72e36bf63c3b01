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
	for _, words := range []string{
		"fileExists a.txt", "fileExists dir", "fileExists none", "fileExists leak",
		"fileContains a.txt needle", "fileContains inside needle", "fileContains leak needle",
		"fileContains leakdir/secret needle", "fileContains a.txt hay", "fileContains dir x",
		"fileNotContains a.txt hay", "fileNotContains a.txt needle", "fileNotContains none needle",
		"regexMatch a.txt n.{3}le", "regexMatch a.txt ^x", "diffContains - added", "diffContains - needle",
		"testSuite true", "command grep -q needle a.txt", "command ./script.sh",
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
		detail := results[0].Detail
		assert.Equal(t, detail == "", results[0].Passed, words)
		if kind == "command" { // the words of the shell are its own
			detail, _, _ = strings.Cut(detail, "executed")
		}
		golden.Row(t, words, detail)
	}
	require.NoError(t, os.Rename(box.Dir, box.Dir+"-moved"))
	require.NoError(t, os.Symlink(newDir(t, files{"a": "1"}).path, box.Dir))
	results, err := box.Check(
		t.Context(),
		[]format.Check{command("true"), {Kind: format.FileExists, Path: "a"}},
		changes,
		time.Minute,
	)
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
	}, "+x", time.Minute)
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
		results, err := box.Check(ctx, []format.Check{command("x")}, "", time.Minute)
		require.ErrorIs(t, err, c.is)
		assert.Nil(t, results)
		why, err := box.Shell(ctx, 0, "x", time.Minute)
		require.ErrorIs(t, err, c.is)
		assert.Empty(t, why)
		_, err = box.Check(ctx, []format.Check{{Kind: format.FileExists, Path: "outputs"}}, "", time.Minute)
		require.ErrorIs(t, err, context.Cause(ctx), "once it is stopped no further check is looked at")
		stop(nil)
	}
}

// TestHowACommandEnds: a command that we or the system ended has not answered the
// question, whatever it is asked for; of one that ended by itself the exit code decides. A row has
// what is said where it is to end well, where badly, and of a check of outputs/.
func TestHowACommandEnds(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]process.Result{
		"well": {}, "badly": {ExitCode: 1}, "its largest code": {ExitCode: 255}, "not executable": {ExitCode: 126},
		"not found": {ExitCode: 127}, "a signal inside": {ExitCode: 137}, "a signal": {ExitCode: -1, Signal: "SIGKILL"},
		"time, and well": {TimedOut: true}, "it took too much": {ExitCode: 1, Exceeded: "too many"},
		"and it went on": {Exceeded: "too many"}, "no shell": {ExitCode: 127, NotFound: true},
	} {
		for says, last := range map[string]process.Result{
			"":         {Stderr: []byte(" \n\t\n")},
			", stderr": {Stdout: []byte("out\n"), Stderr: []byte("first\nlast words\n\n")},
			", stdout": {Stdout: []byte("out\nlast of out\n")},
		} {
			result.Stdout, result.Stderr = last.Stdout, last.Stderr
			box := openBy(t, as(result), nil)
			results, err := box.Check(t.Context(), []format.Check{
				command("x"), {Kind: format.TestSuiteCheck, Command: "x"}, {Kind: format.CommandCheck, Command: "x"},
			}, "", time.Minute)
			require.NoError(t, err)
			shell, err := box.Shell(t.Context(), 0, "x", time.Minute)
			require.NoError(t, err)
			for _, result := range results {
				assert.Equal(t, result.Detail == "", result.Passed)
			}
			assert.Equal(t, results[0].Detail, results[1].Detail, "a test suite is to end well")
			golden.Row(t, name+says, results[0].Detail+" | "+results[2].Detail+" | "+shell)
		}
	}
}
