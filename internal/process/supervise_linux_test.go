package process_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/process"
)

// eventually waits until condition holds. A busy machine may take long: only the
// end of the whole test run gives it up, a little before so that it is said.
func eventually(t *testing.T, condition func() bool, message string) {
	t.Helper()
	patience := time.Hour
	if deadline, ok := t.Deadline(); ok {
		patience = time.Until(deadline) - 5*time.Second
	}
	require.Eventually(t, condition, patience, 20*time.Millisecond, message)
}

// marked returns an environment entry of its own for one command, by which its
// processes are found again.
func marked() string { return markName + rand.Text() }

const markName = "COMMAND_TEST_MARK="

// living returns the processes that have mark in their environment.
func living(mark string) []string {
	var found []string
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environs {
		text, _ := os.ReadFile(file)
		if slices.Contains(strings.Split(string(text), "\x00"), mark) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			found = append(found, filepath.Base(filepath.Dir(file))+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// run runs a shell script under supervision and holds that no process is left.
// It has no time limit unless the test sets one: what the scripts leave behind
// sleeps for longer than all tests may take, so a runner that waits for it fails.
func run(t *testing.T, script string, change ...func(*process.Spec)) process.Result {
	t.Helper()
	mark := marked()
	spec := process.Spec{Args: []string{"sh", "-c", script}, Dir: t.TempDir(), Env: []string{path, mark}}
	for _, change := range change {
		change(&spec)
	}
	result := must(process.NewRunner().Run(t.Context(), spec))
	assert.Empty(t, living(mark), "processes are left")
	return result
}

func timeout(d time.Duration) func(*process.Spec) {
	return func(spec *process.Spec) { spec.Timeout = d }
}

func TestRunPlainEnds(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script string
		code   int
		signal string
	}{
		"success":        {"exit 0", 0, ""},
		"failure":        {"exit 7", 7, ""},
		"killed":         {"kill -9 $$", -1, "SIGKILL"},
		"segfault":       {"kill -SEGV $$", -1, "SIGSEGV"},
		"shell's report": {"exit 137", 137, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.script)
			assert.Equal(t, test.code, result.ExitCode)
			assert.Equal(t, test.signal, result.Signal)
			assert.Equal(t, test.code == 0, result.OK())
			assert.False(t, result.TimedOut)
			assert.Positive(t, result.Duration)
		})
	}
}

func TestRunSeesOnlyWhatItIsGiven(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	extra, err := os.Open(dir) // A descriptor that a careless start would pass on.
	require.NoError(t, err)
	defer func() { _ = extra.Close() }()
	odd := "ODD=\xff\xfe=\n'$(x)"
	result := must(process.NewRunner().Run(t.Context(), process.Spec{
		Args: []string{"/usr/bin/env", "-0"}, Dir: dir, Env: []string{odd, "B=", "A=1"},
	}))
	assert.Equal(t, odd+"\x00B=\x00A=1\x00", string(result.Stdout), "byte for byte and in order")

	result = must(process.NewRunner().Run(t.Context(), process.Spec{
		Args: []string{"sh", "-c", `ls /proc/$$/fd; echo; pwd; readlink /proc/$$/fd/0; ls -l /proc/$PPID/fd | wc -l; ` +
			`cat /proc/$PPID/environ | wc -c`},
		Dir: dir, Env: []string{path},
	}))
	lines := strings.Split(string(result.Stdout), "\n")
	require.Equal(t, []string{"0", "1", "2"}, lines[:3])
	assert.NotContains(t, lines[3:5], "3", "no descriptor but the standard three")
	assert.Contains(t, lines, dir)
	assert.Contains(t, lines, "/dev/null")
	assert.Contains(t, lines, "0", "the supervisor has no environment to read")
}

func TestRunStreams(t *testing.T) {
	t.Parallel()
	t.Run("40 MB of output", func(t *testing.T) {
		t.Parallel()
		result := run(t, `head -c 40000000 /dev/zero | tr '\0' x; echo; echo '{"m": 1}'; echo err >&2`)
		assert.Len(t, result.Stdout, process.DefaultOutputCap)
		assert.True(t, result.StdoutTruncated)
		assert.True(t, bytes.HasSuffix(result.Stdout, []byte("x\n{\"m\": 1}\n")))
		assert.Equal(t, "err\n", string(result.Stderr))
		assert.False(t, result.StderrTruncated)
	})
	t.Run("input", func(t *testing.T) {
		t.Parallel()
		input := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
		never, _ := io.Pipe()
		for script, in := range map[string]io.Reader{
			"cat": bytes.NewReader(input), "exit 4": bytes.NewReader(input), "exit 5": never,
		} {
			result := run(t, script, func(spec *process.Spec) { spec.Stdin = in })
			assert.Equal(t, script == "cat", bytes.Equal(input, result.Stdout))
			assert.Equal(t, map[string]int{"exit 4": 4, "exit 5": 5}[script], result.ExitCode)
		}
	})
	t.Run("live copies", func(t *testing.T) {
		t.Parallel()
		var out, errs bytes.Buffer
		result := run(t, "echo a; echo b >&2", func(spec *process.Spec) { spec.Stdout, spec.Stderr = &out, &errs })
		assert.Equal(t, "a\n", out.String())
		assert.Equal(t, "b\n", errs.String())
		assert.Equal(t, "a\n", string(result.Stdout))
	})
}

func TestRunLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script string // ends when its input does
		left   int    // at least so many are at work before the script ends
	}{
		"background":  {"sleep 60000 & exit 0", 1},
		"setsid":      {"setsid sleep 60000 & read end; exit 0", 1},
		"double fork": {"(setsid sh -c 'sleep 60000 & sleep 60000' &) ; read end; exit 0", 2},
		"every way":   {daemons + "read end; exit 0", 5},
		"stopped":     {"setsid sh -c 'kill -STOP $$' & read end; exit 0", 1},
		"deaf":        {"setsid sh -c 'trap \"\" TERM INT HUP; sleep 60000; sleep 60000' & read end; exit 0", 2},
		"no environment": {"setsid env -i PATH=\"$PATH\" sh -c 'echo > up; sleep 60000; exit 1' & until [ -e up ]; " +
			"do sleep 0.01; done", 1},
		"holds output open": {
			"(sleep 60000; echo late) & echo early",
			0,
		}, // One that may start no sleep any more ends by itself.
		"chain of sessions": {"f() { [ $1 -gt 0 ] && setsid sh -c \"$body\" x $(($1-1)) & sleep 60000; }; body='[ " +
			"$1 -gt 0 ] && { setsid sh -c \"$body\" x $(($1-1)) & }; sleep 60000'; export body; setsid sh -c " +
			"\"$body\" x 20 & read end; exit 0", 20},
		"many": {"i=0; while [ $i -lt 200 ]; do sleep 60000 & i=$((i+1)); done", 200},
		"forks while it dies": {"setsid sh -c 'i=0; while [ $i -lt 3000 ]; do sleep 60000 & i=$((i+1)); done' & " +
			"read end; exit 0", 1},
		"respawns itself": {"export b='sleep 0.01; [ $1 -gt 0 ] && setsid sh -c \"$b\" x $(($1-1)) &'; setsid " +
			"sh -c \"$b\" x 2000 & sleep 0.3", 0},
		"stops its supervisor": {"setsid sleep 60000 & kill -STOP $PPID", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.script, endsWith(t, 1+test.left))
			assert.Equal(t, 0, result.ExitCode)
			assert.False(t, result.TimedOut)
		})
	}
}

// endsWith ends the input of a script once so many of its processes are at work.
func endsWith(t *testing.T, processes int) func(*process.Spec) {
	t.Helper()
	return func(spec *process.Spec) {
		mark := spec.Env[slices.IndexFunc(spec.Env,
			func(entry string) bool { return strings.HasPrefix(entry, markName) })]
		spec.Stdin = readerFunc(func([]byte) (int, error) {
			for t.Context().Err() == nil && len(living(mark)) < processes {
				time.Sleep(20 * time.Millisecond)
			}
			return 0, io.EOF
		})
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// inTime runs a script with longer and longer time limits, up to a minute and more, until
// it printed `up` in one: how long that takes is the machine's affair.
func inTime(limit time.Duration, run func(limit time.Duration) process.Result) process.Result {
	for {
		if result := run(limit); limit >= time.Minute || strings.HasPrefix(string(result.Stdout), "up\n") {
			return result
		}
		limit *= 4
	}
}

func TestRunTimesOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script, signal, prints string
		code                   int
	}{
		"polite":  {"trap 'echo bye; exit 9' TERM; " + daemons + "echo up; wait", "", "up\nbye\n", 9},
		"deaf":    {"trap '' TERM; " + daemons + "echo up; while :; do sleep 60000; done", "SIGKILL", "up\n", -1},
		"stopped": {"echo up; kill -STOP $$", "SIGTERM", "up\n", -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := inTime(500*time.Millisecond,
				func(limit time.Duration) process.Result { return run(t, c.script, timeout(limit)) })
			assert.True(t, result.TimedOut)
			assert.False(t, result.Cancelled)
			assert.False(t, result.OK())
			assert.Equal(t, c.code, result.ExitCode)
			assert.Equal(t, c.signal, result.Signal)
			assert.Equal(t, c.prints, string(result.Stdout))
		})
	}
	t.Run("in time", func(t *testing.T) {
		t.Parallel()
		assert.False(t, run(t, "exit 0", timeout(time.Minute)).TimedOut)
	})
}

func TestRunCancelled(t *testing.T) {
	t.Parallel()
	mark := marked()
	ctx, cancel := context.WithCancel(t.Context())
	up := writerFunc(func([]byte) { cancel() })
	result := must(process.NewRunner().Run(ctx, process.Spec{
		Args: []string{"sh", "-c", daemons + "echo up; wait"}, Dir: t.TempDir(), Env: []string{path, mark}, Stdout: up,
	}))
	assert.True(t, result.Cancelled)
	assert.False(t, result.TimedOut)
	assert.Empty(t, living(mark))

	result = must(process.NewRunner().Run(ctx,
		process.Spec{Args: []string{"sh", "-c", "echo ran"}, Dir: "/", Env: []string{path}}))
	assert.True(t, result.Cancelled)
	assert.Empty(t, result.Stdout, "nothing is started for a context that is done")
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

func TestRunLosesItsSupervisor(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"at once":       "kill -9 $PPID; sleep 60000",
		"daemons first": daemons + "sleep 0.2; kill -9 $PPID; sleep 60000",
		"from a daemon": "(setsid sh -c \"sleep 0.2; kill -9 $PPID; sleep 60000\" &) ; " + daemons + "sleep 60000",
		"and forks after": "setsid sh -c 'i=0; while [ $i -lt 3000 ]; do setsid sleep 60000 & i=$((i+1)); done' & " +
			"sleep 0.2; kill -9 $PPID",
	}
	for name, script := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := run(t, script)
			assert.Equal(t, -1, result.ExitCode)
			assert.Equal(t, "SIGKILL", result.Signal)
			assert.False(t, result.OK())
			assert.False(t, result.TimedOut)
		})
	}
}

func TestRunKeepsCommandsApart(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), "sleep", "600") // A child of this process that the runner does not know.
	require.NoError(t, child.Start())
	defer func() {
		require.NoError(t, child.Process.Signal(syscall.Signal(0)), "another child was killed")
		require.NoError(t, child.Process.Kill())
		_ = child.Wait()
	}()
	quiet, gate := io.Pipe()
	mark := marked()
	started, ended := make(chan struct{}), make(chan process.Result, 1)
	go func() {
		result, err := process.NewRunner().Run(t.Context(), process.Spec{
			Args: []string{"sh", "-c", "setsid sleep 60000 & echo up; read line; echo $line"}, Dir: "/",
			Env:   []string{path, mark},
			Stdin: quiet, Stdout: writerFunc(func(p []byte) {
				if bytes.Contains(p, []byte("up")) {
					close(started)
				}
			}),
		})
		assert.NoError(t, err)
		ended <- result
	}()
	<-started
	for _, script := range []string{daemons, daemons + "sleep 0.1; kill -9 $PPID"} {
		run(t, script)
		assert.Len(t, living(mark), 2, "the processes of the other command live on")
	}
	_, err := gate.Write([]byte("done\n"))
	require.NoError(t, err)
	result := <-ended
	assert.Equal(t, "up\ndone\n", string(result.Stdout))
	assert.True(t, result.OK())
	assert.Empty(t, living(mark))
}

func TestRunDiesWithItsParent(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			mark := marked()
			victim := exec.CommandContext(t.Context(), os.Args[0])
			victim.Env = append(os.Environ(), victimMark+"="+mark)
			require.NoError(t, victim.Start())
			eventually(t, func() bool { return len(living(mark)) >= 7 }, "the processes of the script are started")
			require.NoError(t, victim.Process.Signal(signal))
			_ = victim.Wait()
			eventually(t, func() bool { return len(living(mark)) == 0 }, "all of them are ended")
		})
	}
}

func TestRunCannotStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "orphan"), []byte("#!/no/such/interpreter\n"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "text"), []byte("just text\n"), 0o755))
	runner := process.NewRunner()
	for _, name := range []string{"no-such-program", "./no-such-program", "./orphan", dir} {
		result, err := runner.Run(t.Context(), process.Spec{Args: []string{name}, Dir: dir, Env: []string{path}})
		require.NoError(t, err, name)
		assert.True(t, result.NotFound, name)
		assert.Equal(t, 127, result.ExitCode, name)
	}
	bad := map[string]process.Spec{
		"no arguments":   {Dir: dir},
		"no directory":   {Args: []string{"sh"}, Dir: filepath.Join(dir, "none"), Env: []string{path}},
		"a NUL byte":     {Args: []string{"sh", "a\x00b"}, Dir: dir, Env: []string{path}},
		"not executable": {Args: []string{"./text"}, Dir: dir, Env: []string{path}},
		"too long":       {Args: []string{"sh", strings.Repeat("x", 3<<20)}, Dir: dir, Env: []string{path}},
	}
	for name, spec := range bad {
		_, err := runner.Run(t.Context(), spec)
		require.Error(t, err, name)
		assert.NotContains(t, err.Error(), "\n", name)
	}
	_, err := (&process.Runner{Executable: "/bin/true"}).Run(t.Context(),
		process.Spec{Args: []string{"sh"}, Dir: dir, Env: []string{path}})
	require.ErrorContains(t, err, "without a report")
}

func TestRunWithoutSupervisor(t *testing.T) {
	t.Parallel()
	runner := &process.Runner{Grace: 100 * time.Millisecond}
	result := must(runner.Run(t.Context(), process.Spec{
		Args: []string{"sh", "-c", "cat; sleep 60000 & exit 6"}, Dir: "/", Env: []string{path},
		Stdin: strings.NewReader("in"),
	}))
	assert.Equal(t, 6, result.ExitCode)
	assert.Equal(t, "in", string(result.Stdout))
	result = inTime(100*time.Millisecond, func(limit time.Duration) process.Result {
		result := must(runner.Run(t.Context(), process.Spec{
			Args: []string{"sh", "-c", "trap '' TERM; echo up; sleep 60000"}, Dir: "/", Env: []string{path},
			Timeout: limit,
		}))
		return result
	})
	assert.True(t, result.TimedOut)
	assert.Equal(t, "SIGKILL", result.Signal)
}

func TestRunLeavesNoZombie(t *testing.T) {
	t.Parallel()
	mark := "zombie" + strconv.Itoa(os.Getpid())
	run(t, daemons+"exec -a "+mark+" true")
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		text, _ := os.ReadFile(file)
		assert.NotContains(t, string(text), "("+mark)
	}
}

func BenchmarkRun(b *testing.B) {
	runners := map[string]*process.Runner{"supervised": process.NewRunner(), "plain": {}}
	probe := process.NewRunner().ProbeIsolation(b.Context(), b.TempDir(), []string{path})
	if probe.Isolation != nil {
		isolated := process.NewRunner()
		isolated.Isolation = probe.Isolation
		isolated.Isolation.Home = os.Getenv("HOME")
		runners["isolated by "+probe.Isolation.Method()] = isolated
	}
	for name, runner := range runners {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := runner.Run(b.Context(), process.Spec{Args: []string{"true"}, Dir: "/", Env: []string{path}})
				require.NoError(b, err)
			}
		})
	}
}
