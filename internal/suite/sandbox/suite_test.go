package sandbox_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/sandbox"
)

func TestFindTasks(t *testing.T) {
	t.Parallel()
	d := newDir(t, map[string]string{
		"b/task.json": "{}", "a/deep/task.json": "[]", "a/deep/fixture/task.json": "the fixture's own", "README.md": "",
		".git/task.json": "no", "node_modules/x/task.json": "no", "shared/app.js": "",
	})
	d.link("b", "linked")
	found, err := sandbox.FindTasks(d.path)
	require.NoError(t, err)
	assert.Equal(t, []format.File{
		{Path: "a/deep/task.json", Data: []byte("[]")},
		{Path: "b/task.json", Data: []byte("{}")},
	}, found.List)
	for name, is := range map[string]bool{
		".": true, "shared": true, "a/deep/fixture": true, "linked": false,
		"linked/x": false, "none": false, "README.md": false,
	} {
		assert.Equal(t, is, found.IsDir(name), name)
	}
	_, err = sandbox.FindTasks(d.at("none"))
	require.ErrorContains(t, err, "open the task suite")
}

// TestFixtureWithoutTaskFiles keeps the checks from the agent that has to pass
// them.
func TestFixtureWithoutTaskFiles(t *testing.T) {
	t.Parallel()
	d := newDir(t, map[string]string{
		"a/task.json": "{}", "a/app.js": "a", "a/sub/task.json": "the fixture's own",
		"b/task.json": "{}",
	})
	found, err := sandbox.FindTasks(d.path)
	require.NoError(t, err)
	for fixture, want := range map[string]map[string]string{
		"a": {"app.js": "a", "sub/task.json": "the fixture's own"},
		".": {"a/app.js": "a", "a/sub/task.json": "the fixture's own"},
	} {
		template, err := sandbox.Prepare(t.Context(), filepath.Join(t.TempDir(), "x"),
			found.Fixture(format.Task{ID: "t", Fixture: fixture}), nil)
		require.NoError(t, err)
		assert.Equal(t, want, dir{t, template.Dir}.has())
	}
}
