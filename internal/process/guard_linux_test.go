package process_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/tests/long"
)

// grouped are the runners with the control groups that the kernel bounds
// commands by, and without.
var grouped = map[string]func(*testing.T) *process.Runner{
	"by looking":         func(*testing.T) *process.Runner { return process.NewRunner().WithoutGroups() },
	"by a control group": withGroups,
}

func withGroups(t *testing.T) *process.Runner {
	t.Helper()
	runner := process.NewRunner()
	if !runner.Groups() {
		long.Root(t, "making control groups")
		long.Missing(t, "control groups")
	}
	return runner
}

// exceeds runs a script that is ended for what it had, with all of its processes.
func exceeds(t *testing.T, runner *process.Runner, script, says string) {
	t.Helper()
	mark := marked()
	result := must(runner.Run(context.Background(),
		process.Spec{Args: []string{"sh", "-c", script}, Dir: t.TempDir(), Env: []string{path, mark}}))
	assert.Equal(t, says, result.Exceeded)
	assert.False(t, result.OK())
	assert.Empty(t, living(mark))
}

// TestTooManyProcesses: a command that has more of them than it may, in one session
// or in many, is ended with all of them. The scripts start a few hundred.
func TestTooManyProcesses(t *testing.T) {
	long.Only(t, long.Hostile)
	long.Root(t, "processes that the kernel does not bound for their user")
	t.Parallel()
	const bound = 100
	for how, newRunner := range grouped {
		for name, script := range map[string]string{
			"in one session":           `i=0; while [ $i -lt 300 ]; do sleep 60000 & i=$((i+1)); done; wait`,
			"in sessions of their own": `i=0; while [ $i -lt 300 ]; do setsid sleep 60000 & i=$((i+1)); done; wait`,
			"each starts two": `bomb() { [ "$1" -gt 6 ] && exec sleep 60000; (bomb $(($1+1))) & (bomb ` +
				`$(($1+1))) & wait; }; bomb 0`,
		} {
			t.Run(how+"/"+name, func(t *testing.T) {
				t.Parallel()
				runner := newRunner(t)
				runner.Processes = bound
				exceeds(t, runner, script+"; sleep 60000", "it had more than 100 processes")
			})
		}
	}
}

// TestForkBombInAGroup: the kernel bounds it from its first moment, isolated too,
// and all of it is gone with the command.
func TestForkBombInAGroup(t *testing.T) {
	t.Parallel()
	withGroups(t)
	runners := map[string]*process.Isolation{"not isolated": nil}
	for name, how := range methods(t) {
		runners[name] = how
	}
	for name, how := range runners {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runner := process.NewRunner()
			runner.Processes, runner.Isolation = 100, how
			exceeds(t, runner, bomb, "it had more than 100 processes")
		})
	}
}

// TestForkBombOfAUser: where there are no control groups, the kernel bounds the
// processes of a user who is not root. No other process of that user counts.
func TestForkBombOfAUser(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^$")
	cmd.Env = []string{path, boundedMark + "=yes"}
	cmd.Dir = "/"
	if os.Geteuid() == 0 {
		const someone = 54321 // has no other process
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: someone, Gid: someone}}
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	said := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, said, 2, string(out))
	assert.Equal(t, "it had more than 50 processes", said[1])
	var soft, hard int
	_, err = fmt.Sscan(said[0], &soft, &hard)
	require.NoError(t, err)
	assert.Equal(t, soft, hard, "it cannot raise its bound")
	assert.GreaterOrEqual(t, soft, 100)
}

// TestTooMuchMemory: a command that uses more than it may is ended, whether one of
// its processes does or many together.
func TestTooMuchMemory(t *testing.T) {
	t.Parallel()
	for how, newRunner := range grouped {
		for name, script := range map[string]string{
			"one": `exec python3 -c 'x = bytearray(400 << 20); import time; time.sleep(60000)'`,
			"many": `for i in 1 2 3 4; do python3 -c 'x = bytearray(100 << 20); import time; time.sleep(60000)' & ` +
				`done; wait; sleep 60000`,
		} {
			t.Run(how+"/"+name, func(t *testing.T) {
				t.Parallel()
				if _, err := exec.LookPath("python3"); err != nil {
					long.Missing(t, "python3")
				}
				runner := newRunner(t)
				runner.Memory = 200 << 20
				exceeds(t, runner, script, "it used more than 200 MB of memory")
			})
		}
	}
}

// TestMemoryThatOthersGiveBackHidesNothing: a command is bounded by what it has itself,
// also where the machine has more memory left than when it began.
func TestMemoryThatOthersGiveBackHidesNothing(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		long.Missing(t, "python3")
	}
	other := exec.CommandContext(t.Context(), "python3", "-c",
		`x = bytearray(600 << 20); print("ready", flush=True); import time; time.sleep(60000)`)
	said := must(other.StdoutPipe())
	require.NoError(t, other.Start())
	_, err := said.Read(make([]byte, 1))
	require.NoError(t, err)
	runner := process.NewRunner().WithoutGroups()
	runner.Memory = 200 << 20
	script := fmt.Sprintf(`kill -9 %d; sleep 0.3; exec python3 -c `+
		`'x = bytearray(300 << 20); import time; time.sleep(60000)'`, other.Process.Pid)
	result, err := runner.Run(context.Background(), process.Spec{
		Args: []string{"sh", "-c", script}, Dir: t.TempDir(), Env: []string{path}, Timeout: time.Minute,
	})
	_ = other.Wait() // It was killed.
	require.NoError(t, err)
	assert.Equal(t, "it used more than 200 MB of memory", result.Exceeded)
}

// TestGroupsAreRemoved: nothing of a group is left, also of one whose process was
// killed before it could remove it.
func TestGroupsAreRemoved(t *testing.T) {
	withGroups(t)
	homes := process.GroupHomes()
	gone := filepath.Join(homes[0], "autoloop-999999999-1")
	require.NoError(t, os.Mkdir(gone, 0o755))
	t.Cleanup(func() { _ = os.Remove(gone) })
	result := must(process.NewRunner().Run(context.Background(),
		process.Spec{Args: []string{"cat", "/proc/self/cgroup"}, Dir: "/", Env: []string{path}}))
	assert.Contains(t, string(result.Stdout), fmt.Sprintf("/autoloop-%d-", os.Getpid()))
	assert.NoDirExists(t, gone)
	for line := range strings.Lines(string(result.Stdout)) {
		if _, name, found := strings.Cut(strings.TrimSpace(line), "/autoloop-"); found {
			for _, home := range homes {
				assert.NoDirExists(t, filepath.Join(home, "autoloop-"+name))
			}
		}
	}
	own := must(os.ReadFile("/proc/self/cgroup"))
	assert.NotContains(t, string(own), "/autoloop-")
}

// TestManyProcessesAreFine: a build on a large machine has hundreds.
func TestManyProcessesAreFine(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	result := must(process.NewRunner().Run(context.Background(), process.Spec{
		Args: []string{"sh", "-c", `i=0; while [ $i -lt 200 ]; do sleep 0.3 & i=$((i+1)); done; wait; cat ` +
			`/proc/self/oom_score_adj`}, Dir: t.TempDir(), Env: []string{path},
	}))
	assert.Empty(t, result.Exceeded)
	assert.Equal(t, "500\n", string(result.Stdout), "the kernel ends it first")
	own := must(os.ReadFile("/proc/self/oom_score_adj"))
	assert.NotEqual(t, "500\n", string(own), "and not us")
}

// TestPlacesOfControlGroups: in the hierarchies of version 1 below our own group,
// in version 2 below the nearest one that hands bounds on.
func TestPlacesOfControlGroups(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cgroup, mounts string
		handed         map[string]string
		want           []string
	}{
		"version 1": {
			"8:pids:/a\n4:memory:/b/c\n1:cpu:/\n0::/\n",
			"36 35 0:31 / ROOT/pids rw - cgroup cgroup rw,pids\n" +
				"37 35 0:32 / ROOT/memory rw - cgroup cgroup rw,memory\n" +
				"38 35 0:33 / ROOT/unified rw - cgroup2 cgroup2 rw\n",
			map[string]string{"unified": ""},
			[]string{"pids/a", "memory/b/c"},
		},
		"in a container": {
			"8:pids:/docker/x\n", "36 35 0:31 /docker/x ROOT/pids rw - cgroup cgroup rw,pids\n", nil, []string{"pids"},
		},
		"of another namespace": {
			"8:pids:/docker/y\n",
			"36 35 0:31 /docker/x ROOT/pids rw - cgroup cgroup rw,pids\n", nil, nil,
		},
		"several controllers together": {
			"8:cpu,pids:/a\n", "36 35 0:31 / ROOT/both rw - cgroup cgroup rw,cpu,pids\n", nil, []string{"both/a"},
		},
		"version 2": {
			"0::/user.slice/app.slice/x.scope\n", "36 35 0:31 / ROOT rw - cgroup2 cgroup2 rw,nsdelegate\n",
			map[string]string{
				"user.slice/app.slice/x.scope": "", "user.slice/app.slice": "memory pids",
				"user.slice": "cpu memory pids", ".": "cpu memory pids",
			},
			[]string{"user.slice/app.slice"},
		},
		"version 2, nothing handed on": {
			"0::/x\n", "36 35 0:31 / ROOT rw - cgroup2 cgroup2 rw\n",
			map[string]string{"x": "", ".": "cpu"},
			nil,
		},
		"no mount": {"0::/x\n", "36 35 0:31 / / rw - ext4 /dev/vda rw\n", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for dir, text := range c.handed {
				require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(root, dir, "cgroup.subtree_control"),
					[]byte(text+"\n"), 0o600))
			}
			proc := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(proc, "cgroup"), []byte(c.cgroup), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(proc, "mountinfo"),
				[]byte(strings.ReplaceAll(c.mounts, "ROOT", root)), 0o600))
			var want []string
			for _, dir := range c.want {
				want = append(want, filepath.Join(root, dir))
			}
			assert.Equal(t, want, process.GroupHomesOf(proc))
		})
	}
}
