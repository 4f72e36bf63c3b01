package tests

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
	"github.com/org/autoloop/tests/scratch"
)

// isolated has the project's program require isolation, and more lines of
// frontmatter, and tells the binaries nothing else.
func (w *project) isolated(more ...string) *project {
	w.t.Helper()
	if out, err := exec.CommandContext(w.t.Context(), "unshare", "--user", "--map-current-user",
		"true").CombinedOutput(); err != nil {
		long.Missing(w.t, fmt.Sprintf("user namespaces: %v: %s", err, out))
	}
	file := filepath.Join(w.dir, ".autoloop/programs/p.md")
	data := readText(w.t, file)
	lines := strings.Join(append([]string{"---", "isolation: required"}, more...), "\n")
	require.NoError(w.t, os.WriteFile(file, []byte(strings.Replace(data, "---", lines, 1)), 0o600))
	w.unset("AUTOLOOP_ISOLATION")
	w.onDisk()
	return w
}

// onDisk moves a project out of memory, where an isolated command would not see it.
func (w *project) onDisk() {
	w.t.Helper()
	root := filepath.Dir(w.dir)
	if !strings.HasPrefix(root, scratch.Memory+"/") {
		return
	}
	dir := scratch.OnDisk(w.t)
	w.t.Cleanup(func() { unlock(dir) })
	openWhenDone(w.t, dir)
	w.run("", "cp", "-a", root+"/.", dir)
	w.dir, w.side = strings.Replace(w.dir, root, dir, 1), strings.Replace(w.side, root, dir, 1)
	for i := range w.env {
		w.env[i] = strings.ReplaceAll(w.env[i], root, dir)
	}
	w.git("status", "--short") // the index knows the files by where they were
}

func (w *project) unset(name string) {
	var kept []string
	for _, variable := range w.env {
		if !strings.HasPrefix(variable, name+"=") {
			kept = append(kept, variable)
		}
	}
	w.env = kept
}

// evaluation replaces the evaluation script of agentProject.
func (w *project) evaluation(script string) {
	w.t.Helper()
	w.write("eval.sh", script+"\nprintf '{\"m\": %s}\\n' \"$(cat src/value.txt)\"\n")
	w.commit("evaluation")
}

// printed is what the evaluations printed, as the ledger keeps it.
func (w *project) printed() string {
	var outputs []string
	for _, event := range w.facts("") {
		if output, ok := event["output"].(string); ok {
			outputs = append(outputs, output)
		}
	}
	require.NotEmpty(w.t, outputs)
	return strings.Join(outputs, "\n")
}

// TestIsolatedIteration: agent and evaluation do their work as without
// isolation, git in the tree and the temporary directory included.
func TestIsolatedIteration(t *testing.T) {
	t.Parallel()
	w := agentProject(t, `git log --oneline | grep -q start; git status --porcelain; cat "$AUTOLOOP_PROMPT" >/dev/null
echo x > "$TMPDIR/scratch"; mktemp >/dev/null; echo 4 > src/value.txt; git commit -qam mine; echo "made it 4"`).isolated()
	w.evaluation(`mktemp >/dev/null; echo x > "$HOME/y"; echo x > junk`)
	before := w.checkout()
	got := w.one()
	require.Equal(t, "accepted", got.Outcome, got.Reasons)
	assert.Equal(t, "4", text(got.Metric))
	assert.Equal(t, before, w.checkout())
	w.alone()
}

// TestIsolatedAttacks: neither agent nor evaluation can write outside, read a
// login or the checkout's configuration, or see a process that has a token.
func TestIsolatedAttacks(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	attack := `
for f in "$SIDE/secret" "$SIDE/new" "$SIDE/../home/.profile" "$SIDE/../repo/src/value.txt" "$SIDE/../repo/.git/config" /etc/autoloop-test-attack "$SIDE/../tmp/attack"; do
  (echo spoilt > "$f") 2>/dev/null && echo "wrote: $f"
done
cat "$SIDE/../home/.codex/auth.json" "$SIDE/../home/.ssh/id" "$SIDE/../repo/.git/config" 2>/dev/null
cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep -a TOKEN
for ref in heads/evil tags/evil heads/autoloop/q heads/autoloop/p heads/memory/autoloop; do
  for dir in "$SIDE/../repo/.git" "${real%/objects}"; do git --git-dir="$dir" update-ref "refs/$ref" main 2>/dev/null && echo "moved: $ref"; done
done
`
	reach := `real=$(dirname "$(cat .git/objects/info/alternates)"); mkdir -p "$real/hooks" 2>/dev/null; (echo x > "$real/hooks/pre-commit") 2>/dev/null && echo "wrote: hook"
`
	w := agentProject(t, "set +e\n"+reach+attack+"echo 4 > src/value.txt; echo done").isolated()
	w.evaluation(attack)
	t.Cleanup(func() { _ = os.Remove("/etc/autoloop-test-attack") })
	root := filepath.Dir(w.side)
	for name, text := range map[string]string{
		"home/.codex/auth.json": "login: codex\n", "home/.ssh/id": "login: ssh\n",
		"side/secret": "untouched\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	w.git("config", "http.extraheader", "AUTHORIZATION: login")
	w.env = append(w.env, "GITHUB_TOKEN=hunter2hunter2", "OTHER_TOKEN=sesamesesame")
	before := w.checkout()
	got := w.one()
	require.Equal(t, "accepted", got.Outcome, got.Reasons)
	assert.NotContains(t, w.printed(), "login")
	assert.NotContains(t, w.printed(), "TOKEN")
	assert.NotContains(t, w.printed(), "moved: ")
	assert.Equal(t, "autoloop/p\nmain\nmemory/autoloop",
		w.git("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags"))
	replay := w.binary("iterate", "replay", "p")
	assert.Zero(t, replay.code, replay.stdout)
	for line := range strings.Lines(w.printed()) { // The machine's /tmp, in which this project is, is a private one.
		if file, wrote := strings.CutPrefix(line, "wrote: "); wrote {
			assert.Contains(t, file, "/../")
		}
	}
	assert.Equal(t, before, w.checkout())
	for _, name := range []string{"side/new", "home/.profile", "tmp/attack"} {
		assert.NoFileExists(t, filepath.Join(root, name))
	}
	assert.NoFileExists(t, "/etc/autoloop-test-attack")
	secret := readText(t, filepath.Join(w.side, "secret"))
	assert.Equal(t, "untouched\n", secret)
}

// TestIsolatedLinksTrapNobody: links that an evaluation leaves where we write
// about it, or read what it left, lead nowhere.
func TestIsolatedLinksTrapNobody(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	w := agentProject(t, `echo 4 > src/value.txt`).isolated("setup: sh trap.sh")
	trap := `for d in "$HOME" . "$HOME/.." "$(dirname "$0")"; do
  for f in setup evaluation; do for s in sh stdout stderr; do ln -sf "$SIDE/victim" "$d/$f.$s"; done; done
done 2>/dev/null
`
	w.write("trap.sh", trap)
	w.evaluation("echo evil; echo evil >&2\n" + trap)
	w.commit("trap")
	w.aside("victim", "untouched\n")
	require.Equal(t, "accepted", w.one().Outcome)
	victim := readText(t, filepath.Join(w.side, "victim"))
	assert.Equal(t, "untouched\n", victim)
}

// asNobody runs a binary without the rights of root, from whom nothing is
// concealed.
func (w *project) asNobody(binary string, args ...string) answer {
	w.t.Helper()
	cmd := w.command(binary, args...)
	if os.Geteuid() == 0 {
		root := filepath.Dir(w.side)
		w.run("", "chown", "-R", "nobody", root)
		require.NoError(w.t, os.Chmod(filepath.Dir(root), 0o755)) //nolint:gosec // Nobody goes through.
		setpriv, err := exec.LookPath("setpriv")
		if err != nil {
			long.Missing(w.t, "setpriv")
		}
		cmd.Path, cmd.Args = setpriv, append([]string{"setpriv", "--reuid=nobody", "--clear-groups"}, cmd.Args...)
		w.env = append(w.env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	}
	return w.answer(cmd)
}

// TestTokensAreConcealed: without isolation too, an evaluation that looks at
// every process of its user finds no token.
func TestTokensAreConcealed(t *testing.T) {
	t.Parallel()
	token := rand.Text() // which no process of another test has
	look := `cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep -a ` + token + ` || echo "none found"`
	w := agentProject(t, "("+look+`) > "$SIDE/agent"; echo 4 > src/value.txt`)
	w.evaluation(look)
	w.env = append(w.env, "GITHUB_TOKEN="+token)
	a := w.asNobody("iterate", "--program", "p")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, w.printed(), "none found")
	agent := readText(t, filepath.Join(w.side, "agent"))
	assert.Equal(t, "none found\n", agent)
}

// TestNetworkOff: `network: false` keeps the evaluation, but not its setup and
// not the agent, from a server on this machine.
func TestNetworkOff(t *testing.T) {
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
			_ = connection.Close()
		}
	}()
	_, port, err := net.SplitHostPort(server.Addr().String())
	require.NoError(t, err)
	connect := "bash -c 'exec 3<>/dev/tcp/127.0.0.1/" + port +
		"' 2>/dev/null && echo \"%s reached\" %s || echo \"%[1]s refused\" %[2]s"
	w := agentProject(t, fmt.Sprintf(connect, "agent", "")+"\necho 4 > src/value.txt").
		isolated("network: false", "setup: '"+strings.ReplaceAll(fmt.Sprintf(connect, "setup", ">said"), "'", "''")+"'")
	w.evaluation("cat said; " + fmt.Sprintf(connect, "evaluation", ""))
	got := w.one()
	require.Equal(t, "accepted", got.Outcome, got.Reasons)
	assert.Contains(t, w.printed(), "setup reached\nevaluation refused\n")
	assert.NotContains(t, w.printed(), "evaluation reached")
}

// TestIsolatedDaemonsDie: what detaches itself ends with its command, at the
// end, when the time is up, and when we are killed.
func TestIsolatedDaemonsDie(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	daemon := `(setsid sh -c 'trap "" TERM HUP; sleep 300; sleep 300' >/dev/null 2>&1 &)`
	t.Run("at the end", func(t *testing.T) {
		t.Parallel()
		w := agentProject(t, daemon+"\necho 4 > src/value.txt").isolated()
		w.evaluation(daemon)
		got := w.one()
		require.Equal(t, "accepted", got.Outcome, got.Reasons)
		assert.Zero(t, w.marked(), "a process is left when the run has ended")
	})
	t.Run("when the time is up", func(t *testing.T) {
		t.Parallel()
		w := agentProject(t, daemon+"\nsleep 300").isolated("timeout-minutes: 0.03")
		assert.Equal(t, "error", w.one().Outcome)
		assert.Zero(t, w.marked())
	})
	t.Run("when we are killed", func(t *testing.T) {
		t.Parallel()
		w := agentProject(t, daemon+"\nsleep 300").isolated()
		cmd := w.command("iterate", "--program", "p")
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool { return w.marked() >= 5 }, 2*time.Minute, 10*time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		w.alone()
	})
}

// withoutNamespaces prepares `iterate` where nobody may make namespaces.
func (w *project) withoutNamespaces(args ...string) *exec.Cmd {
	w.t.Helper()
	return w.noNamespaces(w.command("iterate", args...))
}

// noNamespaces has a command run where nobody may make namespaces.
func (w *project) noNamespaces(cmd *exec.Cmd) *exec.Cmd {
	w.t.Helper()
	cmd.Args = append([]string{
		"unshare", "--user", "--map-root-user", "sh", "-c",
		`echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" "$@"`,
	}, cmd.Args...)
	path, err := exec.LookPath("unshare")
	require.NoError(w.t, err)
	cmd.Path = path
	return cmd
}

// TestIsolationThatCannotBe runs where nobody may make namespaces: what
// requires isolation is refused with the reason, and all else runs and says so
// once.
func TestIsolationThatCannotBe(t *testing.T) {
	t.Parallel()
	without := func(w *project, args ...string) answer {
		return w.answer(w.withoutNamespaces(append([]string{"--program", "p"}, args...)...))
	}
	t.Run("required", func(t *testing.T) {
		t.Parallel()
		w := agentProject(t, `echo 4 > src/value.txt`).isolated()
		a := without(w)
		assert.Equal(t, 1, a.code)
		assert.Contains(t, a.stderr, "is required, but does not work on this")
		assert.Contains(t, a.stderr, "max_user_namespaces is 0")
	})
	t.Run("network", func(t *testing.T) {
		t.Parallel()
		w := agentProject(t, `echo 4 > src/value.txt`).isolated("network: false")
		w.write(".autoloop/programs/p.md",
			strings.Replace(w.read(".autoloop/programs/p.md"), "isolation: required", "isolation: auto", 1))
		a := without(w)
		assert.Equal(t, 1, a.code)
		assert.Contains(t, a.stderr, "`network: false` needs isolation")
	})
	t.Run("auto", func(t *testing.T) {
		t.Parallel()
		w := agentProject(t, `echo 4 > src/value.txt`).isolated()
		w.write(".autoloop/programs/p.md",
			strings.Replace(w.read(".autoloop/programs/p.md"), "isolation: required", "isolation: auto", 1))
		a := without(w, "-n", "2")
		assert.Equal(t, 0, a.code, a.stderr)
		assert.Equal(t, 1, strings.Count(a.stderr, "not isolated: "), a.stderr)
	})
}
