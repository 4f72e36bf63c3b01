package process_test

import (
	"os"
	"os/exec"
	"path/filepath"
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
	type ends struct {
		code   int
		signal string
		out    string
	}
	for name, c := range map[string]struct {
		script string
		limit  time.Duration
		want   ends
	}{
		"signal":  {"kill -SEGV $$", 0, ends{-1, "SIGSEGV", ""}},
		"daemons": {daemons + "read end; echo out; echo err >&2; exit 3", 0, ends{3, "", "out\nerr\n"}},
		"polite": {
			"trap 'echo bye; exit 9' TERM; " + daemons + "echo up; wait", 500 * time.Millisecond,
			ends{9, "", "up\nbye\n"},
		},
		"deaf": {
			"trap '' TERM; " + daemons + "echo up; while :; do sleep 60000; done", 500 * time.Millisecond,
			ends{-1, "SIGKILL", "up\n"},
		},
		"attacks its supervisor": {"kill -9 1; kill -STOP 1; kill -9 $PPID; echo alive", 0, ends{0, "", "alive\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			isolated(t, c.script, func(t *testing.T, _ place, r process.Result) {
				t.Helper()
				assert.Equal(t, c.limit > 0, r.TimedOut)
				assert.Equal(t, c.want, ends{r.ExitCode, r.Signal, string(r.Stdout) + string(r.Stderr)})
			}, func(_ place, spec *process.Spec) {
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
			victim.Env = append(os.Environ(), manyMark+"="+mark, methodMark+"="+how.Bubblewrap)
			require.NoError(t, victim.Start())
			eventually(t, func() bool { return len(living(mark)) >= 4*7 }, "the processes of all four are started")
			require.NoError(t, victim.Process.Kill())
			_ = victim.Wait()
			eventually(t, func() bool { return len(living(mark)) == 0 }, "all of them are ended")
		})
	}
}

// TestGarbageCollectorClosesNothing: what a supervisor still needs stays open, however
// often the garbage collector runs beside it.
func TestGarbageCollectorClosesNothing(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	binary := must(os.ReadFile("/proc/self/exe"))
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
				result := must(runner.Run(t.Context(),
					process.Spec{Args: []string{"echo", "ran"}, Dir: p.tree, Env: p.env()}))
				require.Equal(t, "ran\n", string(result.Stdout), string(result.Stderr))
			}
		})
	}
}
