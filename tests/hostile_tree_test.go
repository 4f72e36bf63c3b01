package tests

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// TestAgentDestroysItsTree: whatever it does to its own directories is on record
// as that iteration's, and the next one goes on.
func TestAgentDestroysItsTree(t *testing.T) {
	long.Only(t, long.Hostile)
	for name, script := range map[string]string{
		"removes its tree":       `rm -rf "$PWD"`,
		"a file in its place":    `d=$PWD; cd /; rm -rf "$d"; echo x > "$d"`,
		"a link in its place":    `d=$PWD; cd /; rm -rf "$d"; ln -s /etc "$d"`,
		"cannot be read":         `chmod 000 src; chmod 000 .`,
		"its home is gone":       `rm -rf "$HOME" "$TMPDIR"; echo 4 > src/value.txt`,
		"its parent is gone":     `d=$(dirname "$PWD"); cd /; rm -rf "$d"`,
		"its parent is a file":   `d=$(dirname "$PWD"); cd /; rm -rf "$d"; echo x > "$d"`,
		"its repository is gone": `rm -rf .git; echo 4 > src/value.txt`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := agentProject(t, `[ -e "$SIDE/again" ] && { echo 3 > src/value.txt; exit; }; touch "$SIDE/again"; `+
				script)
			a := w.binary("iterate", "--program", "p", "--json")
			assert.Zero(t, a.code, a.stderr)
			if assert.Equal(t, 1, w.count("decided"), "it is on record") && strings.Contains(script, "rm -rf \"$d\"") {
				first := w.decode(a.stdout)[0]
				assert.Equal(t, "error", first.Outcome)
				assert.Contains(t, first.why(), "agent left nothing to look at: its tree")
			}
			got := w.one()
			assert.Equal(t, "accepted", got.Outcome, got.Reasons)
			assert.Empty(t, got.Warnings)
		})
	}
}

// TestAgentClosesItsTree: who is not root cannot read what it closed. It is on
// record as that iteration's, and the next one goes on.
func TestAgentClosesItsTree(t *testing.T) {
	long.Only(t, long.Hostile)
	for name, c := range map[string]struct{ script, outcome, says string }{
		"the tree":    {`chmod 000 .`, "error", "agent left nothing to look at: its tree"},
		"a directory": {`chmod 000 src`, "rejected", `"src": is a directory that cannot be`},
		"a file":      {`echo 4 > src/value.txt; chmod 000 src/value.txt`, "rejected", `src/value.txt`},
		"its home":    {`chmod 000 "$HOME"; echo 4 > src/value.txt`, "accepted", ""},
		"all that it finds": {
			`cd ..; chmod -R 000 . 2>/dev/null || true`, "error",
			"agent left nothing to look at: its tree",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := agentProject(t, `[ -e "$SIDE/again" ] && { echo 3 > src/value.txt; exit; }; touch "$SIDE/again"; `+
				c.script)
			a := w.asNobody("iterate", "--program", "p", "--json")
			require.Zero(t, a.code, a.stderr)
			first := w.decode(a.stdout)[0]
			assert.Equal(t, c.outcome, first.Outcome, first.Reasons)
			assert.Contains(t, first.why(), c.says)
			assert.Equal(t, 1, w.count("decided"), "it is on record")
			again := w.asNobody("iterate", "--program", "p", "--json")
			require.Zero(t, again.code, again.stderr)
			assert.Equal(t, "accepted", w.decode(again.stdout)[0].Outcome)
			left, err := filepath.Glob(filepath.Join(filepath.Dir(w.side), "tmp", "autoloop-run-*"))
			require.NoError(t, err)
			assert.Empty(t, left, "it is removed all the same")
		})
	}
}

// TestAgentFillsDisk: what has no room any more is an error of that iteration,
// also where the repository lies on the same disk.
func TestAgentFillsDisk(t *testing.T) {
	long.Only(t, long.Hostile)
	for name, c := range map[string]struct {
		everything bool
		script     string
	}{
		"in its tree":                {false, `cat /dev/zero > src/big 2>/dev/null || true`},
		"the disk of the repository": {true, `cat /dev/zero > src/big 2>/dev/null || true`},
		"with many small files":      {true, `i=0; while echo x > "src/$i" 2>/dev/null; do i=$((i+1)); done; true`},
		"beside its tree": {
			true,
			`cat /dev/zero > ../big 2>/dev/null || true; echo 4 > src/value.txt || true`,
		},
		"while it is measured":          {true, `printf 'cat /dev/zero > big 2>/dev/null\n' > src/run.sh`},
		"in the home while it measures": {true, `printf 'cat /dev/zero > "$HOME/big" 2>/dev/null\n' > src/run.sh`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := agentProject(t, `[ -e "$SIDE/again" ] && { echo 3 > src/value.txt; exit; }; touch "$SIDE/again"; `+
				c.script)
			w.write("src/run.sh", "true\n")
			w.write("eval.sh", "sh src/run.sh || true\n"+w.read("eval.sh"))
			w.commit("run")
			root := filepath.Dir(w.side)
			w.fullDisk(filepath.Join(root, "tmp"))
			if c.everything {
				w.run("", "mv", w.dir, filepath.Join(root, "tmp", "repo"))
				w.dir = filepath.Join(root, "tmp", "repo")
			}
			a := w.ok("iterate", "--program", "p", "--json")
			first := w.decode(a.stdout)[0]
			assert.Equal(t, "error", first.Outcome, first.Reasons)
			assert.Contains(t, first.why(),
				"was no room left on the disk, which the")
			assert.Equal(t, 1, w.count("decided"), "it is on record")
			assert.Equal(t, 1, w.count("finished"))
			got := w.one()
			assert.Equal(t, "accepted", got.Outcome, got.Reasons)
		})
	}
}

// fullDisk puts a file system of a few megabytes over a directory.
func (w *project) fullDisk(dir string) {
	w.t.Helper()
	if out, err := exec.CommandContext(w.t.Context(), "mount", "-t", "tmpfs", "-o", "size=8m,mode=1777", "tmpfs",
		dir).CombinedOutput(); err != nil {
		long.Root(w.t, "mounting a file system")
		long.Missing(w.t, "mount: "+string(out))
	}
	w.t.Cleanup(func() {
		//nolint:noctx // The test's context has ended.
		out, err := exec.Command("umount", "--lazy", dir).CombinedOutput()
		assert.NoError(w.t, err, string(out))
	})
}
