package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/suite/sandbox"
)

// below reports whether a path is in a directory.
func below(path, dir string) bool { return strings.HasPrefix(path, dir+"/") }

// TestSuitesThatAreNoSuites: task files that cannot be one, and where they are looked for.
func TestSuitesThatAreNoSuites(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("d/", n) + "task.json" }
	for name, c := range map[string]struct {
		make  func(d dir)
		finds []string
		says  string
	}{
		"a task at the top": {func(d dir) {
			d.put("task.json", "{}", 0o644)
			d.put("a/task.json", "{}", 0o644)
		}, []string{"task.json"}, ""},
		"as deep as is looked": {func(d dir) { d.put(deep(9), "{}", 0o644) }, []string{deep(9)}, ""},
		"deeper":               {func(d dir) { d.put(deep(10), "{}", 0o644) }, nil, ""},
		"git directories of all names": {func(d dir) {
			d.put(".GIT/task.json", "{}", 0o644)
			d.put("git~1/task.json", "{}", 0o644)
		}, nil, ""},
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
			found, err := sandbox.FindTasks(d.path)
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

func TestConfigurationThatChangedIsNotLaid(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(d dir){
		"it changed while it was copied": func(d dir) { d.put("A.md", "y", 0o644) },
		"no such file or directory":      func(d dir) { _ = os.RemoveAll(d.path) },
	} {
		configuration := newDir(t, map[string]string{"A.md": "x"})
		o := overlay(t, configuration)
		change(configuration)
		_, err := sandbox.Prepare(t.Context(), filepath.Join(t.TempDir(), "x"),
			sandbox.Fixture{Name: "fixture", Dir: newDir(t, nil).path}, o)
		require.ErrorContains(t, err, want)
	}
}
