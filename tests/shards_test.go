package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSkillShardsComeToTheSame(t *testing.T) {
	t.Parallel()
	w := exampleWorld(t, "skill-release-notes")
	eval := func(more ...string) answer {
		return w.binary("iterate", append([]string{
			"skill", "eval", "programs/skill-release-notes/skill", "--judge", "off", "--json",
			"--agent-command", "sh programs/skill-release-notes/executor.sh",
		}, more...)...)
	}
	whole := eval("--out", "whole")
	require.Zero(t, whole.code, whole.stderr)
	const parts = 3
	names := make([]string, parts)
	for i := range parts {
		names[i] = fmt.Sprintf("part-%d", i+1)
		a := eval("--shard", fmt.Sprintf("%d/%d", i+1, parts), "--out", names[i])
		require.Zero(t, a.code, a.stderr)
		assert.NotEqual(t, whole.stdout, a.stdout)
	}
	merge := func(more ...string) answer {
		return w.binary("iterate", append([]string{"shards", "merge"}, more...)...)
	}
	a := merge("--json", "all", names[2], names[0], names[1])
	require.Zero(t, a.code, a.stderr)
	assert.JSONEq(t, whole.stdout, a.stdout, "in whatever order the parts are given")
	assert.Equal(t, w.gradings("whole"), w.gradings("all"))

	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"a part is missing":        {[]string{"x", names[0], names[1]}, "part 3/3 is missing: run it with --shard 3/3"},
		"a part is there twice":    {[]string{"x", names[0], names[0], names[1]}, "part-1 and part-1 are both part 1/3"},
		"what is there is kept":    {[]string{"all", names[0]}, "all exists already"},
		"another directory":        {[]string{"x", "programs"}, "programs: it has no shard.json"},
		"a part of another number": {[]string{"x", names[0], w.altered(names[1], `"of": 3`, `"of": 2`)}, "is part 2/2 of skill, but part-1 is part 1/3 of skill"},
		"another skill":            {[]string{"x", names[0], w.altered(names[1], `"digest": "`, `"digest": "0`)}, "different suites, candidates or agents"},
		"a case is missing":        {[]string{"x", names[0], names[1], w.altered(names[2], `"id": "`, `"id": "other-`)}, "is in no part"},
		"an unknown schema":        {[]string{"x", w.altered(names[0], `"schema_version": 1`, `"schema_version": 2`)}, "has schema 2; this program reads 1"},
	} {
		t.Run(name, func(t *testing.T) {
			a := merge(c.args...)
			assert.Equal(t, 2, a.code)
			assert.Contains(t, a.stderr, c.says)
			assert.Equal(t, 1, strings.Count(a.stderr, "\n"))
			assert.NoDirExists(t, filepath.Join(w.dir, "x"))
		})
	}
	for _, wrong := range []string{"0/3", "4/3", "1", "a/b", "-1/3"} {
		assert.Equal(t, 2, eval("--shard", wrong, "--out", "y").code, wrong)
	}
	assert.Contains(t, eval("--shard", "1/3").stderr, "--shard needs --out")
}

// gradings are the files of cases that were kept, by what passed in them.
func (w *world) gradings(dir string) map[string]int {
	w.t.Helper()
	files := map[string]int{}
	root := filepath.Join(w.dir, dir)
	require.NoError(w.t, filepath.WalkDir(root, func(file string, entry os.DirEntry, err error) error {
		if err != nil || entry.Name() != "grading.json" {
			return err
		}
		data, err := os.ReadFile(file)
		name, _ := filepath.Rel(root, file)
		files[name] = strings.Count(string(data), `"passed": true`)
		return err
	}))
	require.NotEmpty(w.t, files)
	return files
}

// altered copies a part with another text in its shard.json, and returns the
// copy's name.
func (w *world) altered(part, old, text string) string {
	w.t.Helper()
	dir := w.t.TempDir()
	require.NoError(w.t, os.CopyFS(dir, os.DirFS(filepath.Join(w.dir, part))))
	file := filepath.Join(dir, "shard.json")
	data, err := os.ReadFile(file)
	require.NoError(w.t, err)
	require.Contains(w.t, string(data), old)
	require.NoError(w.t, os.WriteFile(file, []byte(strings.Replace(string(data), old, text, 1)), 0o600))
	return dir
}

// comparedTasks is what a comparison found, without what it took from before.
func comparedTasks(t *testing.T, text string) map[string]any {
	t.Helper()
	var report map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &report))
	for _, key := range []string{"reusedRuns", "warnings", "baseline", "candidate"} {
		delete(report, key)
	}
	return report
}

func TestTaskShardsComeToTheSame(t *testing.T) {
	t.Parallel()
	w := tasksWorld(t, map[string]string{"one": hasAfter, "two": hasFile, "three": hasAfter + ", " + hasFile, "four": hasAfter, "five": hasFile})
	whole := w.tasks(copyConfig, "--json", "--cache", "whole")
	require.Zero(t, whole.code, whole.stderr)
	merge := []string{"shards", "merge", "all"}
	const parts = 2
	for i := range parts {
		name := fmt.Sprintf("part-%d", i+1)
		merge = append(merge, name)
		a := w.tasks(copyConfig, "--shard", fmt.Sprintf("%d/%d", i+1, parts), "--cache", name)
		require.Zero(t, a.code, a.stderr)
		assert.Contains(t, a.stdout, fmt.Sprintf("part %d/2: %d runs of %d tasks", i+1, 6-2*i, 3-i))
	}
	a := w.binary("iterate", merge...)
	require.Zero(t, a.code, a.stderr)

	together := w.tasks(copyConfig, "--json", "--cache", "all")
	require.Zero(t, together.code, together.stderr)
	assert.Contains(t, together.stderr, "10 kept from before", "all first runs are there")
	one, other := comparedTasks(t, whole.stdout), comparedTasks(t, together.stdout)
	assert.Equal(t, "improved", one["verdict"])
	assert.Equal(t, one, other)

	w.write("AGENTS.md", "after all\n")
	require.Zero(t, w.tasks(copyConfig, "--shard", "2/2", "--cache", "changed").code)
	a = w.binary("iterate", "shards", "merge", "mixed", "part-1", "changed")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.stderr, "different suites, candidates or agents")
	assert.Contains(t, w.tasks(copyConfig, "--shard", "1/2").stderr, "--shard needs --cache")
}
