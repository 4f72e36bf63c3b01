package sandbox_test

import (
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/suite/sandbox"
)

// drawTree draws files of which none is where another needs a directory.
func drawTree(chance *rand.Rand, content string) map[string]string {
	names := []string{"a", "b", "c"}
	tree := map[string]string{}
	for range chance.IntN(6) {
		parts := make([]string, 1+chance.IntN(3))
		for i := range parts {
			parts[i] = names[chance.IntN(len(names))]
		}
		path := strings.Join(parts, "/")
		if !slices.ContainsFunc(slices.Collect(maps.Keys(tree)),
			func(other string) bool { return below(path, other) || below(other, path) }) {
			tree[path] = content
		}
	}
	return tree
}

// below reports whether a path is in a directory.
func below(path, dir string) bool { return strings.HasPrefix(path, dir+"/") }

// TestAConfigurationOverAnyFixture lays drawn configurations over drawn fixtures: each side
// has its own files, none that only the other has, and the rest of the fixture.
func TestAConfigurationOverAnyFixture(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(111, 112))
	for range 60 {
		files := drawTree(chance, "fixture")
		ours, theirs := drawTree(chance, "ours"), drawTree(chance, "theirs")
		read := func(files map[string]string) *sandbox.Overlay {
			o, err := sandbox.ReadOverlay(t.Context(), "side", newDir(t, files).path, anything{})
			require.NoError(t, err)
			return o
		}
		fixture, mine, other := newDir(t, files), read(ours), read(theirs)
		mine.Against(other)
		for _, side := range []struct {
			overlay    *sandbox.Overlay
			own, other map[string]string
		}{{mine, ours, theirs}, {other, theirs, ours}} {
			template, err := sandbox.Prepare(t.Context(), filepath.Join(t.TempDir(), "x"),
				sandbox.Fixture{Name: "fixture", Dir: fixture.path}, side.overlay)
			require.NoError(t, err)
			want := maps.Clone(side.own)
			for path, text := range files {
				_, gone := side.other[path]
				inTheWay := slices.ContainsFunc(slices.Collect(maps.Keys(side.own)),
					func(own string) bool { return own == path || below(own, path) || below(path, own) })
				if !gone && !inTheWay {
					want[path] = text
				}
			}
			assert.Equal(t, want, dir{t, template.Dir}.has(), "%v over %v, beside %v", side.own, files, side.other)
			var paths []string
			for _, e := range template.Manifest {
				if e.IsFile() {
					paths = append(paths, e.Path)
				}
			}
			assert.Equal(t, slices.Sorted(maps.Keys(want)), paths, "the manifest says what is there")
		}
	}
}

// TestSuitesThatAreNoSuites: task files that cannot be one, and where they are looked for.
func TestSuitesThatAreNoSuites(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("d/", n) + "task.json" }
	for name, c := range map[string]struct {
		make  func(d dir)
		finds []string
		says  string
	}{
		"nothing": {func(dir) {}, nil, ""},
		"a task at the top": {func(d dir) {
			d.put("task.json", "{}", 0o644)
			d.put("a/task.json", "{}", 0o644)
		}, []string{"task.json"}, ""},
		"as deep as is looked":     {func(d dir) { d.put(deep(9), "{}", 0o644) }, []string{deep(9)}, ""},
		"deeper":                   {func(d dir) { d.put(deep(10), "{}", 0o644) }, nil, ""},
		"a name in other letters":  {func(d dir) { d.put("a/Task.json", "{}", 0o644) }, nil, ""},
		"a name that only ends so": {func(d dir) { d.put("a/my-task.json", "{}", 0o644) }, nil, ""},
		"git directories of all names": {func(d dir) {
			d.put(".GIT/task.json", "{}", 0o644)
			d.put("git~1/task.json", "{}", 0o644)
		}, nil, ""},
		"a directory of that name": {func(d dir) { d.put("a/task.json/x", "{}", 0o644) }, nil, ""},
		"a link to a file": {
			func(d dir) { d.put("x", "{}", 0o644); d.link("../x", "a/task.json") }, nil,
			"task.json",
		},
		"a link out of the suite": {func(d dir) { d.link("/etc/passwd", "a/task.json") }, nil, "task.json"},
		"a directory that is a link": {func(d dir) {
			d.link(newDir(d.t, map[string]string{"task.json": "{}"}).path, "a")
		}, nil, ""},
		"more than a task may have": {
			func(d dir) { d.put("a/task.json", strings.Repeat(" ", 3<<20), 0o644) },
			[]string{"a/task.json"},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDir(t, nil)
			c.make(d)
			found, err := sandbox.FindTasks(t.Context(), d.path)
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
				require.ErrorContains(t, err, "read the task suite "+d.path)
				return
			}
			require.NoError(t, err)
			var paths []string
			for _, file := range found.List {
				paths = append(paths, file.Path)
				assert.LessOrEqual(t, len(file.Data), 2<<20, "the parser refuses less")
			}
			assert.Equal(t, c.finds, paths)
		})
	}
}
