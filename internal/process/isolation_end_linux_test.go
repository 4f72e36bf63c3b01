package process_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/tests/long"
)

func TestIsolatedEnds(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		check  func(t *testing.T, result process.Result)
		limit  time.Duration
	}{
		"exit code": {"echo out; echo err >&2; exit 7", func(t *testing.T, r process.Result) {
			t.Helper()
			assert.Equal(t, 7, r.ExitCode)
			assert.Equal(t, "out\nerr\n", string(r.Stdout)+string(r.Stderr))
		}, 0},
		"signal": {"kill -SEGV $$", func(t *testing.T, r process.Result) {
			t.Helper()
			assert.Equal(t, "SIGSEGV", r.Signal)
		}, 0},
		"daemons": {daemons + "read end; exit 3", func(t *testing.T, r process.Result) {
			t.Helper()
			assert.Equal(t, 3, r.ExitCode)
			assert.GreaterOrEqual(t, r.Killed, 5)
		}, 0},
		"polite": {"trap 'echo bye; exit 9' TERM; " + daemons + "echo up; wait", func(t *testing.T, r process.Result) {
			t.Helper()
			assert.True(t, r.TimedOut)
			assert.Equal(t, 9, r.ExitCode)
			assert.Equal(t, "up\nbye\n", string(r.Stdout))
		}, 500 * time.Millisecond},
		"deaf": {
			"trap '' TERM; " + daemons + "echo up; while :; do sleep 60000; done",
			func(t *testing.T, r process.Result) {
				t.Helper()
				assert.True(t, r.TimedOut)
				assert.Equal(t, "SIGKILL", r.Signal)
			}, 500 * time.Millisecond,
		},
		"attacks its supervisor": {
			"kill -9 1; kill -STOP 1; kill -9 $PPID; echo alive",
			func(t *testing.T, r process.Result) {
				t.Helper()
				assert.True(t, r.OK())
				assert.Equal(t, "alive\n", string(r.Stdout))
			}, 0,
		},
		"much output": {"head -c 20000000 /dev/zero; echo end", func(t *testing.T, r process.Result) {
			t.Helper()
			assert.Len(t, r.Stdout, process.DefaultOutputCap)
			assert.True(t, r.StdoutTruncated)
			assert.True(t, strings.HasSuffix(string(r.Stdout), "end\n"))
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			isolated(t, c.script, func(t *testing.T, _ place, r process.Result) { t.Helper(); c.check(t, r) },
				func(_ place, spec *process.Spec) {
					if c.limit > 0 {
						spec.Timeout = c.limit
					}
					endsWith(t, 6)(spec)
				})
		})
	}
}

// TestManyDieWithTheirParent kills a process that runs several commands at
// once, isolated and not, with daemons in each.
func TestManyDieWithTheirParent(t *testing.T) {
	t.Parallel()
	for name, how := range methods(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mark := marked()
			victim := exec.CommandContext(t.Context(), os.Args[0])
			victim.Env = append(os.Environ(), manyMark+"="+mark, methodMark+"="+string(how.Method)+"\t"+how.Program)
			require.NoError(t, victim.Start())
			eventually(t, func() bool { return len(living(mark)) >= 4*7 }, "the processes of all four are started")
			require.NoError(t, victim.Process.Kill())
			_ = victim.Wait()
			eventually(t, func() bool { return len(living(mark)) == 0 }, "all of them are ended")
		})
	}
}

// TestTheCollectorClosesNothing: what a supervisor still needs stays open, however
// often the garbage collector runs beside it.
func TestTheCollectorClosesNothing(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	binary, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), collecting)
	require.NoError(t, os.WriteFile(copied, binary, 0o755))
	ways := methods(t)
	ways["not isolated"] = nil
	for name, how := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			runner := process.NewRunner()
			runner.Executable, runner.Isolation = copied, how
			for range 20 {
				result, err := runner.Run(t.Context(),
					process.Spec{Args: []string{"echo", "ran"}, Dir: p.tree, Env: p.env()})
				require.NoError(t, err)
				require.Equal(t, "ran\n", string(result.Stdout), string(result.Stderr))
			}
		})
	}
}
