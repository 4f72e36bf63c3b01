package tests

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/tests/long"
)

// killProject has the snapshots v-old and v-new of two small states that differ in
// every way in which an entry can.
func killProject(t *testing.T) (w *project, before, after string) {
	t.Helper()
	w = newProject(t, map[string]string{
		"old/SKILL.md": "old\n", "old/same": "same\n", "old/gone": "x\n", "old/turns/into": "a file\n",
		"old/deep/er/file": "old\n", "old/deep/er/same": "same\n",
		"new/SKILL.md": "new\n", "new/same": "same\n", "new/more/of": "it\n", "new/turns": "a file\n",
		"new/deep/er/file": "new\n", "new/deep/er/same": "same\n",
	})
	for _, name := range []string{"old", "new"} {
		w.ok("iterate", "skill", "snapshot", name, "v-"+name)
	}
	return w, w.state("old"), w.state("new")
}

// again puts a copy of a directory where one was left by a killed command, and
// removes what else that left.
func (w *project) again(from, to string) {
	w.t.Helper()
	left, err := filepath.Glob(filepath.Join(w.dir, "."+to+".*"))
	require.NoError(w.t, err)
	for _, name := range append(left, filepath.Join(w.dir, to)) {
		require.NoError(w.t, files.RemoveAll(name))
	}
	w.run("", "cp", "-a", filepath.Join(w.dir, from), filepath.Join(w.dir, to))
}

// clean holds that nothing is left of what was interrupted.
func (w *project) clean(point int, call string) {
	w.t.Helper()
	for _, pattern := range []string{".s.*", "..s.*", ".kept.*", "..kept.*", ".kept*"} {
		left, err := filepath.Glob(filepath.Join(w.dir, pattern))
		require.NoError(w.t, err)
		require.Empty(w.t, left, "left by a kill before %s, the call %d, and by the run after", call, point)
	}
}

// everyPoint kills a command before each of the calls that count, and looks at what
// is left.
func everyPoint(t *testing.T, w *project, counts func(string) bool, args []string, before,
	after func(point int, call string),
) {
	t.Helper()
	const most = 500
	for point := 1; ; point++ {
		require.Less(t, point, most)
		before(point, "")
		call := long.KillAt(t, w.command("iterate", args...), point, counts)
		after(point, call)
		if call == "" {
			require.Greater(t, point, 5, "too few points to believe it")
			return
		}
	}
}

// renaming are those that move something into its place, which is where states
// change.
func renaming(call string) bool { return call == "rename" || call == "renameat" || call == "renameat2" }

// placing reports whether a call makes a directory or moves something.
func placing(call string) bool { return renaming(call) || strings.HasPrefix(call, "mkdir") }

func anyCall(string) bool { return true }

func TestRestoreKilledAtEveryCall(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	for name, git := range map[string]string{
		"whole": "", "with a .git": ".git/HEAD",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, old, changed := killProject(t)
			if git != "" {
				w.write("old/"+git, "ref: mine\n")
			}
			args := []string{"skill", "restore", "v-new", "s"}
			mixtures := 0
			everyPoint(t, w, anyCall, args, func(int, string) { w.again("old", "s") }, func(point int, call string) {
				now := w.state("s")
				if now != old && now != changed {
					mixtures++
					require.NotEmpty(t, git, "a mixture after a kill before %s, the call %d", call, point)
				}
				a := w.binary("iterate", args...)
				require.Zero(t, a.code, "%s, the call %d: %s", call, point, a.stderr)
				require.Equal(t, changed, w.state("s"), "%s, the call %d", call, point)
				if git != "" {
					require.Equal(t, "ref: mine\n", w.read("s/"+git))
				}
				w.clean(point, call)
			})
			assert.Equal(t, git != "", mixtures > 0, "only what stays in place for its .git is changed entry by entry")
		})
	}
}

// holds reports whether a text is in a file below one of these places.
func (w *project) holds(text string, places ...string) bool {
	w.t.Helper()
	found := false
	for _, place := range places {
		roots, err := filepath.Glob(filepath.Join(w.dir, place))
		require.NoError(w.t, err)
		for _, root := range roots {
			require.NoError(w.t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
				if err != nil || !entry.Type().IsRegular() {
					return err
				}
				data, err := os.ReadFile(path)
				found = found || bytes.Contains(data, []byte(text))
				return err
			}))
		}
	}
	return found
}

// TestKillsLoseNothingOfPeople kills an application, a merge, and what undoes
// them, before every call that makes a directory or moves something. Every text that a
// person wrote is on disk afterwards.
func TestKillsLoseNothingOfPeople(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	for name, args := range map[string][]string{
		"apply":      {"apply", ws, "--yes"},
		"merge":      {"apply", ws, "--merge", "--yes"},
		"undo":       {"undo", ws, "--yes"},
		"force undo": {"undo", ws, "--yes", "--force"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := improvedProject(t)
			texts := []string{"the first thing that I wrote", "the second thing that I wrote"}
			switch w.write("s/mine", texts[0]+"\n"); name {
			case "undo":
				w.ok("iterate", "apply", ws, "--merge", "--yes")
				texts = texts[:1]
			case "apply": // nothing but what the versions have
				w.ok("iterate", "undo", ws, "--yes", "--force")
				texts = []string{texts[0], "old", "six, better"}
			default:
				w.ok("iterate", "undo", ws, "--yes", "--force")
				w.write("s/mine", texts[1]+"\n")
			}
			for _, place := range []string{"s", ws} {
				w.run("", "cp", "-a", filepath.Join(w.dir, place), filepath.Join(w.dir, "first-"+place))
			}
			everyPoint(t, w, placing, args, func(int, string) {
				w.again("first-s", "s")
				w.again("first-"+ws, ws)
			}, func(point int, call string) {
				for _, text := range texts {
					require.True(t, w.holds(text, "s", ".s*", ws), "%q is lost by a kill before %s, the call %d", text,
						call, point)
				}
				a := w.binary("iterate", args...)
				require.Zero(t, a.code, "%s, the call %d: %s", call, point, a.stderr)
				for _, text := range texts[:1] {
					require.True(t, w.holds(text, "s", ws), "%q is lost by the run after %s, the call %d", text,
						call, point)
				}
				w.clean(point, call)
			})
		})
	}
}

// TestSkillRunKilledAtEveryRename kills an improvement before every call that
// moves something into its place, from the workspace's first file to the row of
// the iteration.
func TestSkillRunKilledAtEveryRename(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	w := skillProject(t, "", `echo beta >> SKILL.md; echo "say beta"`)
	args := []string{
		"skill", "s", "-n", "1", "--judge", "off", "--settings", w.settings("jobs: 1", "isolation: off"),
		"--agent-command",
		`sh "$SIDE/improve"`,
		"--executor-command", `cp "$AUTOLOOP_SKILL/SKILL.md" outputs/out.md`,
	}
	everyPoint(t, w, renaming, args, func(int, string) {
		require.NoError(t, files.RemoveAll(filepath.Join(w.dir, ws)))
	}, func(point int, call string) {
		a := w.binary("iterate", args...)
		require.Zero(t, a.code, "%s, the call %d: %s", call, point, a.stderr)
		rows := strings.Split(strings.TrimSpace(w.read(ws+"/results.tsv")), "\n")[1:]
		require.GreaterOrEqual(t, len(rows), 2, "%s, the call %d: %s", call, point, a.stdout)
		for i, row := range rows {
			fields := strings.Split(row, "\t")
			require.Equal(t, []string{"0", "1", "2"}[i], fields[0], "%s, the call %d: no row is there twice",
				call, point)
			require.Equal(t, []string{"0.5", "0.666666666667", "0.666666666667"}[i], fields[2])
		}
		require.Contains(t, w.read(ws+"/v1/SKILL.md"), "alpha\nbeta\n")
		require.Equal(t, "---\nname: s\n---\nalpha\n", w.read("s/SKILL.md"))
		left, err := filepath.Glob(filepath.Join(w.dir, ws, ".*"))
		require.NoError(t, err)
		require.Empty(t, left, "left by a kill before %s, the call %d, and by the run after", call, point)
	})
}
