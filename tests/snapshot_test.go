package tests

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// state describes all that is below a directory but for `.git`.
func state(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Name() == ".git" && entry.IsDir() {
			return fs.SkipDir
		}
		if entry.Name() == ".git" {
			return nil
		}
		info, err := entry.Info()
		if err != nil || name == dir {
			return err
		}
		text := ""
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			text = string(data)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			if text, err = os.Readlink(name); err != nil {
				return err
			}
		}
		fmt.Fprintf(&out, "%q %v %q\n", strings.TrimPrefix(name, dir), info.Mode(), text)
		return nil
	})
	if os.IsNotExist(err) {
		return "nothing"
	}
	require.NoError(t, err)
	return out.String()
}

// skillState writes one of two states of a skill of some hundred files.
func skillState(t *testing.T, dir, which string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for i := range 300 {
		name := filepath.Join(dir, fmt.Sprintf("part-%d", i%10), fmt.Sprintf("file %d", i))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		text := strings.Repeat("the same\n", 100)
		if i%3 == 0 {
			text = strings.Repeat(which+"\n", 100)
		}
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "only "+which), []byte(which), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(which), 0o644))
}

func TestSnapshotAndRestoreCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"skill/SKILL.md": "one", "skill/scripts/run": "x"})
	a := w.binary("iterate", "skill", "snapshot", "skill", "kept/v0", "--json")
	require.Zero(t, a.code, a.stderr)
	var taken struct {
		Digest  string
		Files   int
		Changed bool
	}
	require.NoError(t, json.Unmarshal([]byte(a.stdout), &taken))
	assert.Equal(t, 2, taken.Files)
	assert.True(t, taken.Changed)
	assert.Contains(t, w.read("kept/v0.manifest.json"), taken.Digest)
	a = w.binary("iterate", "skill", "snapshot", "skill", "kept/v0")
	assert.Contains(t, a.stdout, "2 files, 4 bytes, unchanged, sha256 "+taken.Digest)

	before := state(t, filepath.Join(w.dir, "skill"))
	w.write("skill/SKILL.md", "two")
	w.write("skill/more", "m")
	a = w.binary("iterate", "skill", "restore", "kept/v0", "skill")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, "skill is as kept/v0: 1 file written, 1 entry removed\n", a.stdout)
	assert.Equal(t, before, state(t, filepath.Join(w.dir, "skill")))

	a = w.binary("iterate", "skill", "restore", "kept/v9", "skill")
	assert.Equal(t, 1, a.code)
	assert.Contains(t, a.stderr, "kept/v9 is missing; nothing was changed")
	a = w.binary("iterate", "skill", "restore", "kept/v0")
	assert.Equal(t, 2, a.code)
}

// TestSnapshotKilled kills snapshots and restores, and nothing else of them, at random
// moments before and after they have their effect; each must leave one state or the
// other.
func TestSnapshotKilled(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	w := newWorld(t, nil)
	one, two := filepath.Join(w.side, "one"), filepath.Join(w.side, "two")
	skillState(t, one, "one")
	skillState(t, two, "two")
	for _, name := range []string{"one", "two"} {
		require.Zero(t, w.binary("iterate", "skill", "snapshot", filepath.Join(w.side, name),
			filepath.Join(w.side, "v-"+name)).code)
	}
	target, kept, out := filepath.Join(w.side, "target"), filepath.Join(w.side, "kept", "v1"),
		filepath.Join(w.side, "out")
	const kills = 25
	w.killAround(kills, func() string { return state(t, target) },
		leading{state(t, one), []string{"skill", "restore", filepath.Join(w.side, "v-one"), target}},
		leading{state(t, two), []string{"skill", "restore", filepath.Join(w.side, "v-two"), target}})
	w.killAround(kills, func() string {
		a := w.binary("iterate", "skill", "restore", kept, out)
		require.Zero(t, a.code, a.stderr)
		return state(t, out)
	}, leading{state(t, one), []string{"skill", "snapshot", one, kept}},
		leading{state(t, two), []string{"skill", "snapshot", two, kept}})
	require.Zero(t, w.binary("iterate", "skill", "restore", filepath.Join(w.side, "v-two"), target).code)
	require.Zero(t, w.binary("iterate", "skill", "snapshot", two, kept).code)
	for _, dir := range []string{w.side, filepath.Join(w.side, "kept")} {
		left, err := filepath.Glob(filepath.Join(dir, ".*"))
		require.NoError(t, err)
		assert.Empty(t, left, "the run after a killed one clears up")
	}
}
