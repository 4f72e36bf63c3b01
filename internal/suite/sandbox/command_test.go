package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/sandbox"
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

// openBy makes an empty sandbox whose commands go to a Runner; change adapts its Maker.
func openBy(t *testing.T, runner sandbox.Runner, change func(*sandbox.Maker)) (*sandbox.Box, string) {
	t.Helper()
	base := t.TempDir()
	template, err := sandbox.Prepare(t.Context(), filepath.Join(base, "template"),
		sandbox.Fixture{Name: "fixture", Dir: newDir(t, map[string]string{"outputs/a": ""}).path}, nil)
	require.NoError(t, err)
	m := maker()
	m.Runner = runner
	if change != nil {
		change(m)
	}
	place := filepath.Join(base, "box")
	box, err := m.Open(t.Context(), place, template, []string{"SEEN"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, box.Close()) })
	return box, place
}

// TestHowChecksAreRun: each command has the sandbox as its directory, a home of its own,
// and of the time what the ones before it left.
func TestHowChecksAreRun(t *testing.T) {
	t.Parallel()
	took := []time.Duration{10 * time.Second, 25 * time.Second, 30 * time.Second, 0}
	runner := &ends{}
	runner.each = func(context.Context, process.Spec) (process.Result, error) {
		return process.Result{Duration: took[len(runner.specs)-1]}, nil
	}
	box, place := openBy(t, runner, func(m *sandbox.Maker) {
		m.Offline = true
		m.Environ = func(home string, names []string) ([]string, error) {
			return append([]string{"HOME=" + home}, names...), nil
		}
	})
	command := func(text string) format.Check {
		return format.Check{Kind: format.CommandCheck, Command: text, ExpectExitZero: true}
	}
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
	assert.Equal(t, []string{
		"command one true ", "diffContains x true ", "testSuite two true ", "command three true ",
		"command four false the task's time was up before it could run", "fileExists outputs true ",
	}, said, "in their order, and what runs nothing needs no time")
	require.Len(t, runner.specs, 3)
	for i, want := range []struct {
		text string
		home int
		left time.Duration
	}{{"one", 1, 60 * time.Second}, {"two", 3, 50 * time.Second}, {"three", 4, 25 * time.Second}} {
		spec := runner.specs[i]
		assert.Equal(t, []string{"sh", "-c", want.text}, spec.Args)
		assert.Equal(t, box.Dir, spec.Dir)
		assert.Equal(t, want.left, spec.Timeout, want.text)
		assert.Equal(t, []string{
			fmt.Sprintf("HOME=%s/check-%d", place, want.home), "SEEN",
			"GIT_CEILING_DIRECTORIES=" + place,
		}, spec.Env, "the repository around the sandbox is not its own")
		assert.True(t, spec.Offline, "checks have no network where that can be kept from them")
		assert.Equal(t, int64(1<<20), spec.OutputCap)
	}
	why, err := box.Shell(t.Context(), 6, "five", 7*time.Second)
	require.NoError(t, err)
	assert.Empty(t, why)
	outputs := filepath.Join(box.Dir, "outputs")
	assert.Equal(t, process.Spec{
		Args: []string{"sh", "-c", "five"}, Dir: outputs, Timeout: 7 * time.Second, OutputCap: 1 << 20, Offline: true,
		Env: []string{
			"HOME=" + place + "/check-7", "SEEN", "GIT_CEILING_DIRECTORIES=" + place,
			"OUTPUTS_DIR=" + outputs,
		},
	}, runner.specs[3])
}

// TestChecksThatCannotBeRun are errors, and no result of the agent's.
func TestChecksThatCannotBeRun(t *testing.T) {
	t.Parallel()
	broken, stopped := errors.New("broken"), errors.New("stopped")
	check := []format.Check{{Kind: format.CommandCheck, Command: "x"}}
	for name, c := range map[string]struct {
		each   func(stop func(error)) (process.Result, error)
		change func(*sandbox.Maker)
		is     error
	}{
		"the runner fails": {
			func(func(error)) (process.Result, error) { return process.Result{}, broken },
			nil, broken,
		},
		"it was ended with the comparison": {func(stop func(error)) (process.Result, error) {
			stop(stopped)
			return process.Result{ExitCode: -1, Cancelled: true}, nil
		}, nil, stopped},
		"no home": {nil, func(m *sandbox.Maker) {
			environ := m.Environ
			m.Environ = func(home string, names []string) ([]string, error) {
				if strings.HasPrefix(filepath.Base(home), "check-") {
					return nil, broken
				}
				return environ(home, names)
			}
		}, broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			box, _ := openBy(t, &ends{each: func(context.Context, process.Spec) (process.Result, error) {
				return c.each(stop)
			}}, c.change)
			results, err := box.Check(ctx, check, sandbox.Changes{}, time.Minute)
			require.ErrorIs(t, err, c.is)
			assert.Nil(t, results)
			if name == "it was ended with the comparison" {
				_, err = box.Check(ctx, []format.Check{{Kind: format.FileExists, Path: "outputs"}}, sandbox.Changes{},
					time.Minute)
				require.ErrorIs(t, err, stopped, "no further check is looked at")
			}
			why, err := box.Shell(ctx, 0, "x", time.Minute)
			require.ErrorIs(t, err, c.is)
			assert.Empty(t, why)
		})
	}
}

// TestSandboxCannotBeMade leaves nothing behind, and takes no place of others.
func TestSandboxCannotBeMade(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	fixture := newDir(t, map[string]string{"a/b": "x"})
	template, err := sandbox.Prepare(t.Context(), filepath.Join(base, "template"),
		sandbox.Fixture{Name: "fixture", Dir: fixture.path}, nil)
	require.NoError(t, err)
	m, broken := maker(), errors.New("no home here")
	m.Environ = func(string, []string) ([]string, error) { return nil, broken }
	_, err = m.Open(t.Context(), filepath.Join(base, "1"), template, nil)
	require.ErrorIs(t, err, broken)
	assert.NoDirExists(t, filepath.Join(base, "1"))

	ended, stop := context.WithCancelCause(t.Context())
	stop(errors.New("stopped"))
	_, err = maker().Open(ended, filepath.Join(base, "2"), template, nil)
	require.ErrorContains(t, err, "make a sandbox: stopped")
	assert.NoDirExists(t, filepath.Join(base, "2"))
	_, err = sandbox.Prepare(ended, filepath.Join(base, "3"), sandbox.Fixture{Name: "fixture", Dir: fixture.path}, nil)
	require.ErrorContains(t, err, "stopped")

	m = maker()
	m.Remove = func(string) error { return errors.New("it is held") }
	m.Environ = func(string, []string) ([]string, error) { return nil, broken }
	_, err = m.Open(t.Context(), filepath.Join(base, "4"), template, nil)
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "it is held", "both are said")

	_, err = sandbox.Prepare(t.Context(), filepath.Join(base, "template"),
		sandbox.Fixture{Name: "fixture", Dir: fixture.path}, nil)
	require.ErrorIs(t, err, os.ErrExist, "what is there is not written over")
	_, err = sandbox.Prepare(t.Context(), filepath.Join(base, "5"),
		sandbox.Fixture{Name: "fixture of t", Dir: fixture.at("none")}, nil)
	require.ErrorContains(t, err, "open the fixture of t: ")
	err = sandbox.Inspect(t.Context(), sandbox.Fixture{Name: "fixture of t", Dir: fixture.at("none")})
	require.ErrorContains(t, err, "open the fixture of t: ")
	require.NoError(t, os.RemoveAll(template.Dir))
	_, err = maker().Open(t.Context(), filepath.Join(base, "6"), template, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// listens is a Runner whose setup ends as it says, and whose server behaves as serve does.
func listens(setup process.Result, serve func(ctx context.Context, port string) process.Result) *ends {
	runner := &ends{}
	runner.each = func(ctx context.Context, spec process.Spec) (process.Result, error) {
		i := slices.IndexFunc(spec.Env, func(variable string) bool { return strings.HasPrefix(variable, "PORT=") })
		if i < 0 {
			return setup, nil
		}
		return serve(ctx, strings.TrimPrefix(spec.Env[i], "PORT=")), nil
	}
	return runner
}

// ended is a context of which the end is not announced yet.
type ended struct {
	context.Context

	err error
}

func (ended) Done() <-chan struct{} { return nil }

func (e ended) Err() error { return e.err }

// TestServerEndsWithRun: when its end is seen before that of the run, it is no fault
// of the skill.
func TestServerEndsWithRun(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped")
	box, _ := openBy(t, as(process.Result{ExitCode: -1, Cancelled: true}), nil)
	server, why, err := box.Serve(ended{t.Context(), stopped}, "", "serve", time.Minute)
	require.ErrorIs(t, err, stopped, why)
	assert.Nil(t, server)
}

// TestServers: one that listens is at its address until it is closed; of another it is said
// why it does not.
func TestServers(t *testing.T) {
	t.Parallel()
	waits := func(ctx context.Context, _ string) process.Result {
		<-ctx.Done()
		return process.Result{Cancelled: true}
	}
	answers := func(ctx context.Context, port string) process.Result {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:"+port)
		if err != nil {
			return process.Result{ExitCode: 1, Stderr: []byte(err.Error())}
		}
		<-ctx.Done()
		_ = listener.Close()
		return process.Result{Cancelled: true}
	}
	ended := func(result process.Result) func(context.Context, string) process.Result {
		return func(context.Context, string) process.Result { return result }
	}
	const secret = "sk-very-secret-key"
	none := process.Result{}
	for name, c := range map[string]struct {
		setup string
		ends  process.Result // of the setup
		serve func(ctx context.Context, port string) process.Result
		limit time.Duration
		why   string
		specs int
	}{
		"it listens":      {"", none, answers, time.Minute, "", 1},
		"after its setup": {"make", none, answers, time.Minute, "", 2},
		"its setup fails": {
			"make",
			process.Result{ExitCode: 2, Stderr: []byte("no rule\n" + secret)},
			nil, time.Minute,
			"the setup failed: exit code 2: ***", 1,
		},
		"its setup is too slow": {
			"make",
			process.Result{ExitCode: -1, TimedOut: true},
			nil, time.Minute,
			"the setup took longer than 1m0s", 1,
		},
		"it ends well": {
			"", none, ended(process.Result{Stdout: []byte("bye\n")}), time.Minute,
			"the server ended before it listened: exit code 0: bye", 1,
		},
		"it crashes": {
			"", none, ended(process.Result{ExitCode: 1, Stderr: []byte("one\nno module " + secret + "\n")}),
			time.Minute,
			"the server ended before it listened: exit code 1: no module ***", 1,
		},
		"it listens to nobody": {
			"", none, waits, 60 * time.Millisecond,
			"the server did not listen on 127.0.0.1:PORT ($PORT) within 60ms", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var serving atomic.Int32
			runner := listens(c.ends, func(ctx context.Context, port string) process.Result {
				serving.Add(1)
				defer serving.Add(-1)
				return c.serve(ctx, port)
			})
			box, place := openBy(t, runner,
				func(m *sandbox.Maker) { m.Masker = process.NewMasker(nil, secret); m.Offline = true })
			server, why, err := box.Serve(t.Context(), c.setup, "serve it", c.limit)
			require.NoError(t, err)
			require.Len(t, runner.specs, c.specs)
			last := runner.specs[c.specs-1]
			port := strings.TrimPrefix(last.Env[len(last.Env)-1], "PORT=")
			assert.Equal(t, c.why, strings.Replace(why, "127.0.0.1:"+port, "127.0.0.1:PORT", 1))
			for i, spec := range runner.specs {
				assert.Equal(t, box.Dir, spec.Dir)
				assert.Contains(t, spec.Env, "HOME="+filepath.Join(place, "server"),
					"one home for both, and none of the agent's")
				assert.False(t, spec.Offline, "the cases ask it over the network")
				if c.setup != "" && i == 0 {
					assert.Equal(t, []string{"sh", "-c", c.setup}, spec.Args)
					assert.Equal(t, c.limit, spec.Timeout)
				} else {
					assert.Equal(t, []string{"sh", "-c", "serve it"}, spec.Args)
					assert.Zero(t, spec.Timeout, "it runs as long as it is needed")
				}
			}
			if c.why != "" {
				assert.Nil(t, server)
				return
			}
			require.Equal(t, "http://127.0.0.1:"+port, server.URL)
			connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", "127.0.0.1:"+port)
			require.NoError(t, err)
			_ = connection.Close()
			server.Close()
			assert.Zero(t, serving.Load(), "nothing of it is left; its port may be another's by now")
		})
	}
}

// TestHowACommandEnds: a command that we or the system ended has not answered the
// question, whatever it is asked for; of one that ended by itself the exit code decides.
func TestHowACommandEnds(t *testing.T) {
	t.Parallel()
	const other = "exit code 0, where another one is expected"
	for name, c := range map[string]struct {
		result process.Result
		says   string // where exit code 0 is expected
		not    string // where another one is
	}{
		"well":             {process.Result{}, "", other},
		"badly":            {process.Result{ExitCode: 1}, "exit code 1", ""},
		"its largest code": {process.Result{ExitCode: 255}, "exit code 255", ""},
		"not executable":   {process.Result{ExitCode: 126}, "exit code 126: the command cannot be executed", "same"},
		"not found":        {process.Result{ExitCode: 127}, "exit code 127: the command was not found", "same"},
		"a signal inside":  {process.Result{ExitCode: 137}, "exit code 137: the command was ended by signal 9", "same"},
		"a signal":         {process.Result{ExitCode: -1, Signal: "SIGKILL"}, "it was ended by SIGKILL", "same"},
		"time, and well":   {process.Result{TimedOut: true}, "it was ended: the task's time was up", "same"},
		"a part took too much": {
			process.Result{ExitCode: 1, Exceeded: "it had more than 9 processes"},
			"it was ended: it had more than 9 processes", "same",
		},
		"and it went on": {
			process.Result{Exceeded: "it had more than 9 processes"},
			"it was ended: it had more than 9 processes", "same",
		},
	} {
		for says, result := range map[string]process.Result{
			"":            {Stderr: []byte(" \n\t\n")},
			"last words":  {Stdout: []byte("out\n"), Stderr: []byte("first\nlast words\n\n")},
			"last of out": {Stdout: []byte("out\nlast of out\n")},
		} {
			out, err := result.Stdout, result.Stderr
			result = c.result
			result.Stdout, result.Stderr = out, err
			box, _ := openBy(t, as(result), nil)
			ask := func(check format.Check) string {
				results, err := box.Check(t.Context(), []format.Check{check}, sandbox.Changes{}, time.Minute)
				require.NoError(t, err)
				assert.Equal(t, results[0].Detail == "", results[0].Passed)
				return results[0].Detail
			}
			want, not := c.says, c.not
			if want != "" && says != "" {
				want += ": " + says
			}
			if not == "same" {
				not = want
			}
			assert.Equal(t, want, ask(format.Check{
				Kind: format.CommandCheck, Command: "x",
				ExpectExitZero: true,
			}), name)
			assert.Equal(t, want, ask(format.Check{Kind: format.TestSuiteCheck, Command: "x"}), name)
			assert.Equal(t, not, ask(format.Check{Kind: format.CommandCheck, Command: "x"}), name)
			shell, failed := box.Shell(t.Context(), 0, "x", time.Minute)
			require.NoError(t, failed)
			if result.TimedOut {
				want = "it took longer than 1m0s"
			}
			assert.Equal(t, want, shell, "%s: a check of outputs/ too", name)
		}
	}
	box, _ := openBy(t, as(process.Result{ExitCode: 127, NotFound: true}), nil)
	shell, err := box.Shell(t.Context(), 0, "x", time.Minute)
	require.NoError(t, err)
	assert.Equal(t, "there is no shell `sh` to run it with", shell)
}

// TestServersThatCannotBeStarted are errors, not faults of the skill.
func TestServersThatCannotBeStarted(t *testing.T) {
	t.Parallel()
	for _, setup := range []string{"", "make"} {
		for _, want := range []error{errors.New("broken"), errors.New("stopped")} {
			ctx, stop := context.WithCancelCause(t.Context())
			box, _ := openBy(t, &ends{each: func(running context.Context, _ process.Spec) (process.Result, error) {
				if want.Error() == "broken" {
					return process.Result{}, want
				}
				stop(want)
				<-running.Done()
				return process.Result{ExitCode: -1, Cancelled: true}, nil
			}}, nil)
			server, why, err := box.Serve(ctx, setup, "serve", time.Minute)
			require.ErrorIs(t, err, want, why)
			assert.Nil(t, server)
			stop(nil)
		}
	}
}
