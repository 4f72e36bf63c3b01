package tests

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/org/autoloop/tests/long"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// propose makes a bundle beside the repository.
func (w *world) propose(name string) (string, iteration) {
	w.t.Helper()
	dir := filepath.Join(w.side, name)
	a := w.binary("iterate", "job", "propose", "--program", "p", "--json", "--out", dir)
	require.Zero(w.t, a.code, a.stderr)
	list := w.decode(a.stdout)
	require.Len(w.t, list, 1)
	return dir, list[0]
}

func (w *world) publish(dir string) iteration {
	w.t.Helper()
	a := w.binary("iterate", "job", "publish", "--program", "p", "--json", dir)
	require.Zero(w.t, a.code, a.stderr)
	list := w.decode(a.stdout)
	require.Len(w.t, list, 1)
	return list[0]
}

// refs are all branches.
func (w *world) refs() string { return w.git("for-each-ref", "refs/heads") }

// The records of two jobs are those of one, but for times, ids and the note of the bundle.
func TestPublishingWritesWhatOneJobWrites(t *testing.T) {
	t.Parallel()
	whole, split := valuesWorld(t, "metric_direction: higher", "1", "3"), valuesWorld(t, "metric_direction: higher", "1", "3")
	whole.one()
	dir, _ := split.propose("a")
	split.publish(dir)
	kinds := func(w *world) []string {
		return slices.DeleteFunc(w.kinds(), func(kind string) bool { return kind == "set published" })
	}
	assert.ElementsMatch(t, kinds(whole), kinds(split))
	assert.Equal(t, whole.git("rev-parse", "autoloop/p^{tree}"), split.git("rev-parse", "autoloop/p^{tree}"))
	rows := func(w *world) []string {
		var list []string
		for line := range strings.Lines(w.memory("p.results.tsv")) {
			fields := strings.Split(line, "\t")
			list = append(list, strings.Join(append(fields[:1:1], fields[2:]...), "\t"))
		}
		return list
	}
	assert.Equal(t, rows(whole), rows(split))
}

func TestRefusedBundlesChangeNothing(t *testing.T) {
	long.Only(t, long.Hostile)
	edit := func(file, old, replacement string) func(w *world, dir string) {
		return func(w *world, dir string) {
			w.t.Helper()
			name := filepath.Join(dir, file)
			data, err := os.ReadFile(name)
			require.NoError(w.t, err)
			require.Contains(w.t, string(data), old)
			require.NoError(w.t, os.WriteFile(name, []byte(strings.ReplaceAll(string(data), old, replacement)), 0o600))
		}
	}
	for name, c := range map[string]struct {
		do   func(w *world, dir string)
		says string
	}{
		"published twice": {func(w *world, dir string) { w.publish(dir) }, "published before"},
		"state has moved": {func(w *world, _ string) { w.one() }, "the state of p has changed"},
		"branch has moved": {func(w *world, _ string) {
			w.git("branch", "autoloop/p", w.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "x"))
		}, "has moved"},
		"change altered": {edit("change.json", "value.txt", "valve.txt"), "altered"},
		"events altered": {edit("events.jsonl", "3", "9"), "altered"},
		"oversized": {func(w *world, dir string) {
			require.NoError(w.t, os.Truncate(filepath.Join(dir, "change.json"), 65<<20))
		}, "too large"},
		"of another program": {func(w *world, dir string) {
			w.manifest(dir, func(m map[string]any) { m["program"] = "q" })
		}, `program "q"`},
		"from a commit that is not on main": {func(w *world, _ string) {
			w.git("commit", "--quiet", "--amend", "--message", "another start")
		}, "not on main"},
		"outside the target": {func(w *world, dir string) { w.rewrite(dir, "other.txt") }, "outside the target"},
		"the program itself": {func(w *world, dir string) { w.rewrite(dir, ".autoloop/programs/p.md") }, "belongs to Autoloop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := valuesWorld(t, "metric_direction: higher", "1", "3", "4")
			dir, _ := w.propose("a")
			c.do(w, dir)
			before, checkout := w.refs(), w.checkout()
			a := w.binary("iterate", "job", "publish", "--program", "p", dir)
			assert.Equal(t, 1, a.code, a.stdout)
			assert.Contains(t, a.stderr, c.says)
			assert.Equal(t, before, w.refs())
			assert.Equal(t, checkout, w.checkout())
		})
	}
}
