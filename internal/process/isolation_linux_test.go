package process_test

import (
	"fmt"
	"net"
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

// place is a made-up machine: a home with logins and caches, a tree, and a
// file that is nobody's business.
type place struct{ home, tree, own, outside string }

func newPlace(t *testing.T) place {
	t.Helper()
	root := t.TempDir()
	t.Cleanup(func() { open(t, root) })
	p := place{
		filepath.Join(root, "home"), filepath.Join(root, "run", "tree"), filepath.Join(root, "run", "home"),
		filepath.Join(root, "outside"),
	}
	for name, text := range map[string]string{
		"home/.codex/auth.json": "login", "home/.claude/.credentials.json": "login", "home/notes": "private",
		"home/.tools/bin/hello": "#!/bin/sh\ncat \"$(dirname \"$0\")/../lib\"\n",
		"home/.tools/lib":       "from the library\n", "home/.cache/go-build/entry": "right\n",
		"home/.cargo/credentials.toml": "login", "home/.cargo/bin/x": "",
		"run/tree/file": "tree\n", "run/home/tmp/x": "", "run/other/file": "another tree",
		"outside/file": "untouched\n", "shown/data": "shown\n",
	} {
		file := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o755))
	}
	return p
}

// isolated runs commands by a method, with the place's home.
func (p place) isolated(by *process.Isolation) *process.Runner {
	how := *by
	how.Home = p.home
	runner := process.NewRunner()
	runner.Isolation = &how
	return runner
}

// open opens directories that the kernel's overlays close, so that they can be
// removed.
func open(t *testing.T, dir string) {
	t.Helper()
	//nolint:noctx // The test's context may have ended.
	out, err := exec.Command("chmod", "-R", "u+rwx", dir).CombinedOutput()
	assert.NoError(t, err, string(out))
}

// env is the environment of a command there.
func (p place) env(more ...string) []string {
	caller := append([]string{
		"HOME=" + p.home,
		"PATH=" + filepath.Join(p.home, ".tools", "bin") + ":" + os.Getenv("PATH"),
	}, more...)
	return append(process.Environment(caller, p.own, nil), more...)
}

// methods are the ways to isolate that must work in these tests.
func methods(t *testing.T) map[string]*process.Isolation {
	t.Helper()
	found := map[string]*process.Isolation{}
	probe := process.NewRunner().ProbeIsolation(t.Context(), t.TempDir(), []string{path})
	if probe.Isolation == nil || probe.Isolation.Method() != "namespaces" {
		long.Missing(t, "namespaces: "+probe.Reason)
	} else {
		found["namespaces"] = &process.Isolation{}
		found["without overlays"] = process.WithoutOverlay(&process.Isolation{})
	}
	program, err := exec.LookPath("bwrap")
	if err != nil {
		require.False(t, long.Asked(), "bwrap is not installed")
		t.Log("bwrap is not installed and not tested")
		return found
	}
	found["bwrap"] = &process.Isolation{Bubblewrap: program}
	return found
}

// isolated runs a script in every way that there is.
func isolated(t *testing.T, script string, check func(t *testing.T, p place, result process.Result),
	change ...func(p place, spec *process.Spec),
) {
	t.Helper()
	for name, how := range methods(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			runner, mark := p.isolated(how), marked()
			spec := process.Spec{
				Args: []string{"sh", "-c", script}, Dir: p.tree,
				Env: append(p.env(), mark, "OUTSIDE="+filepath.Dir(p.outside)+"/outside"), Timeout: time.Minute,
			}
			for _, change := range change {
				change(p, &spec)
			}
			check(t, p, inTime(spec.Timeout, func(limit time.Duration) process.Result {
				spec.Timeout = limit
				result := must(runner.Run(t.Context(), spec))
				assert.Empty(t, living(mark), "processes are left")
				return result
			}))
		})
	}
}

func TestIsolatedCommandsWriteNowhereElse(t *testing.T) {
	t.Parallel()
	script := `
for f in "$OUTSIDE/file" "$OUTSIDE/new" ../other/file /etc/autoloop /usr/autoloop /autoloop /var/autoloop /home/autoloop /run/autoloop "$REAL/notes" "$REAL/new" "$DATA/data"; do
  if echo spoilt 2>/dev/null > "$f"; then echo "wrote $f"; fi
done
rm -rf "$OUTSIDE" "$DATA" 2>/dev/null; chmod 777 "$DATA" 2>/dev/null && echo "changed a mode"
echo 1 2>/dev/null > /proc/sys/kernel/sysrq && echo "changed the kernel"
mount -o remount,rw / 2>/dev/null && echo "mounted"
umount "$OUTSIDE" 2>/dev/null && echo "unmounted"
set -e
echo new > made; echo more >> file; echo x > "$HOME/x"; echo x > "$TMPDIR/y"; echo x > /tmp/z; echo x > /dev/null; cat "$DATA/data"
`
	isolated(t, script, func(t *testing.T, p place, result process.Result) {
		t.Helper()
		wrote := strings.Split(strings.TrimSpace(string(result.Stdout)), "\n")
		require.Equal(t, 0, result.ExitCode, string(result.Stderr))
		assert.Equal(t, "shown", wrote[len(wrote)-1])
		for _, line := range wrote[:len(wrote)-1] { // Into the private /tmp, which is thrown away.
			assert.Contains(t, line, "wrote "+filepath.Dir(p.outside))
			assert.NotContains(t, line, "shown")
		}
		for file, text := range map[string]string{
			"outside/file": "untouched\n", "run/other/file": "another tree", "home/notes": "private",
			"shown/data":    "shown\n",
			"run/tree/file": "tree\nmore\n", "run/tree/made": "new\n", "run/home/x": "x\n", "run/home/tmp/y": "x\n",
		} {
			data, err := os.ReadFile(filepath.Join(filepath.Dir(p.outside), file))
			require.NoError(t, err, file)
			assert.Equal(t, text, string(data), file)
		}
		for _, file := range []string{
			filepath.Join(p.outside, "new"), filepath.Join(p.home, "new"),
			"/etc/autoloop", "/tmp/z",
		} {
			assert.NoFileExists(t, file)
		}
	}, func(p place, spec *process.Spec) {
		spec.Env = append(spec.Env, "REAL="+p.home, "DATA="+filepath.Join(filepath.Dir(p.outside), "shown"))
	})
}

func TestIsolatedCommandsSeeNoHome(t *testing.T) {
	t.Parallel()
	script := `
cat "$REAL/.codex/auth.json" "$REAL/.claude/.credentials.json" "$REAL/notes" "$CARGO_HOME/credentials.toml" ../other/file 2>/dev/null
find / -name auth.json 2>/dev/null | grep -v /usr/
ls "$CARGO_HOME/bin"; hello
`
	isolated(t, script, func(t *testing.T, _ place, result process.Result) {
		t.Helper()
		assert.Equal(t, "x\nfrom the library\n", string(result.Stdout),
			"programs in PATH find what is beside them, and nothing else is there")
	}, func(p place, spec *process.Spec) { spec.Env = append(spec.Env, "REAL="+p.home) })
}

// TestIsolatedCommandsHaveNoPrivileges: what root keeps is for its own files.
func TestIsolatedCommandsHaveNoPrivileges(t *testing.T) {
	t.Parallel()
	script := `grep -E 'CapEff|CapPrm|CapBnd|NoNewPrivs' /proc/self/status; chown 1234:1234 file 2>/dev/null && stat -c %u:%g file
chown 1234 /etc/passwd "$REAL" 2>/dev/null && echo "changed an owner"; chmod 777 /etc/passwd 2>/dev/null && echo "changed a mode"
unshare -m true 2>/dev/null && echo "made a mount namespace"; kill -0 2 2>/dev/null; cat /proc/1/environ 2>/dev/null && echo "read its supervisor"; true`
	isolated(t, script, func(t *testing.T, _ place, result process.Result) {
		t.Helper()
		want := "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\n"
		if os.Geteuid() == 0 && !strings.Contains(t.Name(), "bwrap") {
			want = strings.ReplaceAll(want, "0000000000000000",
				"0000000000000019") + "1234:1234\n" // chown, fowner, fsetid
		}
		assert.Equal(t, want, string(result.Stdout))
	}, func(p place, spec *process.Spec) { spec.Env = append(spec.Env, "REAL="+p.home) })
}

// TestLinksShowNothing: a command that leaves links in its own directories gets
// nothing shown or made writable for the next one.
func TestLinksShowNothing(t *testing.T) {
	t.Parallel()
	for name, how := range methods(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			runner := p.isolated(how)
			run := func(script string) string {
				result := must(runner.Run(t.Context(), process.Spec{
					Args: []string{"sh", "-c", script}, Dir: p.tree,
					Env: append(p.env(), "PROMPT="+filepath.Join(p.own, "prompt.md"),
						"npm_config_cache="+filepath.Join(p.tree, "cache"), "REAL="+p.home, "OUTSIDE="+p.outside),
					Writable: []string{filepath.Join(p.tree, "out")},
				}))
				return string(result.Stdout)
			}
			run(
				`rm -rf "$TMPDIR"; ln -s "$REAL/.codex" "$TMPDIR"; ln -s "$REAL/notes" "$PROMPT"; ln -s "$REAL/.claude" out; ln -s "$REAL" cache
rm -rf "$HOME/.autoloop-caches"; ln -s "$REAL" "$HOME/.autoloop-caches"`,
			)
			assert.Empty(t, run(`cat "$PROMPT" "$TMPDIR/auth.json" out/.credentials.json cache/notes 2>/dev/null; `+
				`(echo x > "$REAL/.codex/new"; echo x > "$REAL/.claude/new"; echo x > "$REAL/new") 2>/dev/null`))
			for _, file := range []string{".codex/new", ".claude/new", "new", "GOCACHE"} {
				assert.NoFileExists(t, filepath.Join(p.home, file))
			}
		})
	}
}

func TestLoginIsThereForItsAgentAlone(t *testing.T) {
	t.Parallel()
	isolated(t, `cat "$CODEX_HOME/auth.json"; echo x > "$CODEX_HOME/new" && cat `+
		`"$HOME/../../home/.claude/.credentials.json"`,
		func(t *testing.T, p place, result process.Result) {
			t.Helper()
			assert.Equal(t, "login", string(result.Stdout))
			assert.FileExists(t, filepath.Join(p.home, ".codex", "new"))
		}, func(p place, spec *process.Spec) {
			login := filepath.Join(p.home, ".codex")
			spec.Env, spec.Writable = append(spec.Env, "CODEX_HOME="+login), []string{login}
		})
}

func TestIsolatedCommandsSeeOnlyTheirProcesses(t *testing.T) {
	t.Parallel()
	secret := "ISOLATION_TEST_TOKEN=hunter2hunter2"
	other := exec.CommandContext(t.Context(), "sleep", "600")
	other.Env = append(os.Environ(), secret)
	require.NoError(t, other.Start())
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	isolated(t, `cat /proc/[0-9]*/environ | tr '\0' '\n' | grep -a hunter2; kill -9 -1; echo $(ls -d /proc/[0-9]* | `+
		`wc -l)`,
		func(t *testing.T, _ place, result process.Result) {
			t.Helper()
			assert.NotContains(t, string(result.Stdout), "hunter2")
			assert.NoError(t, other.Process.Signal(syscall.Signal(0)), "it reached processes of others")
		})
}

func TestOffline(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // It waits for nobody.
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		for {
			connection, err := server.Accept()
			if err != nil {
				return
			}
			_, _ = fmt.Fprintln(connection, "reached")
			_ = connection.Close()
		}
	}()
	dial := "exec \"$SELF\""
	for _, offline := range []bool{false, true} {
		isolated(t, dial, func(t *testing.T, _ place, result process.Result) {
			t.Helper()
			want := "host: reached\nown: reached\n"
			if offline {
				want = "host: refused\nown: reached\n"
			}
			assert.Equal(t, want, string(result.Stdout), string(result.Stderr))
		}, func(_ place, spec *process.Spec) {
			spec.Offline = offline
			spec.Env = append(spec.Env, "SELF="+os.Args[0], dialMark+"="+server.Addr().String())
		})
	}
	_, err = process.NewRunner().Run(t.Context(),
		process.Spec{Args: []string{"true"}, Dir: "/", Env: []string{path}, Offline: true})
	require.ErrorContains(t, err, "isolation", "a promise that cannot be kept is refused")
}

func TestProbeGivesAReason(t *testing.T) {
	t.Parallel()
	probe := (&process.Runner{Executable: "/bin/false"}).ProbeIsolation(t.Context(), t.TempDir(),
		[]string{"PATH=/nowhere"})
	assert.Nil(t, probe.Isolation)
	assert.Contains(t, probe.Reason, "bwrap")
	assert.NotContains(t, probe.Reason, "\n")
}
