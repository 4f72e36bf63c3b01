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
	"github.com/org/autoloop/internal/suite"
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
func command(text string) suite.Check {
	return suite.Check{Kind: suite.CommandCheck, Command: text}
}

// looked is what a check in a directory of the sandbox comes to.
func looked(t *testing.T, box *sandbox.Box, in string, check suite.Check, diff string) (passed bool, evidence string) {
	t.Helper()
	passed, evidence, _, err := box.Check(t.Context(), 0, in, check, diff, time.Minute)
	require.NoError(t, err)
	return passed, evidence
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
		check := suite.Check{Kind: suite.CheckKind(kind), File: path, Text: text, Pattern: regexp.MustCompile(text)}
		if kind == "command" || kind == "testSuite" {
			check.Command = rest
		}
		passed, evidence := looked(t, box, ".", check, changes)
		if kind == "command" { // the words of the shell are its own
			evidence, _, _ = strings.Cut(evidence, "executed")
		}
		golden.Row(t, words, fmt.Sprint(passed, ": ", evidence))
	}
	require.NoError(t, os.Rename(box.Dir, box.Dir+"-moved"))
	require.NoError(t, os.Symlink(newDir(t, files{"a": "1"}).path, box.Dir))
	for _, check := range []suite.Check{command("true"), {Kind: suite.FileExists, File: "a"}} {
		passed, evidence := looked(t, box, ".", check, changes)
		assert.False(t, passed)
		assert.Contains(t, evidence, "removed or exchanged")
	}
}

// TestHowChecksAreRun: each command has the sandbox or outputs/ as its directory, and a home of
// its own.
func TestHowChecksAreRun(t *testing.T) {
	t.Parallel()
	runner := &ends{}
	runner.each = func(context.Context, process.Spec) (process.Result, error) {
		return process.Result{Duration: time.Second}, nil
	}
	box := openBy(t, runner, func(m *sandbox.Maker) {
		m.Offline = true
		m.Environ = func(home string, names []string) ([]string, error) {
			return append([]string{"HOME=" + home}, names...), nil
		}
	})
	var said []string
	for i, c := range []struct {
		in    string
		check suite.Check
		left  time.Duration
	}{
		{".", command("one"), time.Minute},
		{".", suite.Check{Kind: suite.DiffContains, Text: "x"}, time.Minute},
		{".", suite.Check{Kind: suite.TestSuiteCheck, Command: "two"}, 50 * time.Second},
		{".", command("late"), 0},
		{".", suite.Check{Kind: suite.FileExists, File: "outputs"}, 0},
		{"outputs", suite.Check{Kind: suite.ShellCommand, Command: "five"}, 7 * time.Second},
	} {
		passed, evidence, took, err := box.Check(t.Context(), i, c.in, c.check, "+x", c.left)
		require.NoError(t, err)
		said = append(said, fmt.Sprint(passed, " ", evidence, " ", took))
	}
	golden.Row(t, "what runs nothing needs no time", strings.Join(said, "; "))
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
		spec("one", box.Dir, 1, 60), spec("two", box.Dir, 3, 50),
		spec("five", outputs, 6, 7, "OUTPUTS_DIR="+outputs),
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
		for _, in := range []string{".", "outputs"} {
			passed, _, _, err := box.Check(ctx, 0, in, command("x"), "", time.Minute)
			require.ErrorIs(t, err, c.is)
			assert.False(t, passed)
		}
		_, _, _, err := box.Check(ctx, 0, ".", suite.Check{Kind: suite.FileExists, File: "outputs"}, "", time.Minute)
		require.ErrorIs(t, err, context.Cause(ctx), "once it is stopped no further check is looked at")
		stop(nil)
	}
}

// TestHowACommandEnds: a command that we or the system ended has not answered the
// question, whatever it is asked for; of one that ended by itself the exit code decides. A row has
// what is said where it is to end well, and where badly.
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
			var row []string
			for _, check := range []suite.Check{command("x"), {Kind: suite.CommandCheck, Command: "x", Fails: true}} {
				passed, evidence := looked(t, box, ".", check, "")
				row = append(row, fmt.Sprint(passed, ": ", evidence))
			}
			golden.Row(t, name+says, strings.Join(row, " | "))
		}
	}
}
