package tests

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
)

// frozen is what older versions left behind: a directory for each of them, which
// is read and never written. testdata/compat/README.md says how one is made.
const frozen = "testdata/compat"

// frozenHome stands for the parent of a repository in frozen files.
const frozenHome = "/home/user"

// eachVersion runs a test with what each of the older versions left.
func eachVersion(t *testing.T, test func(t *testing.T, dir string)) {
	t.Helper()
	t.Parallel()
	entries, err := os.ReadDir(frozen)
	require.NoError(t, err)
	count := 0
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		count++
		t.Run(entry.Name(), func(t *testing.T) {
			t.Parallel()
			test(t, filepath.Join(frozen, entry.Name()))
		})
	}
	require.NotZero(t, count)
}

func frozenFile(t *testing.T, parts ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(parts...))
	require.NoError(t, err)
	return string(data)
}

// restoredWorld is a world whose repository has the history of a frozen one, and
// what its agent reads. The commits have the ids that they had.
func restoredWorld(t *testing.T, dir string) *world {
	t.Helper()
	w := emptyWorld(t)
	w.importHistory(w.dir, filepath.Join(dir, "repo.fast-import"))
	w.git("reset", "--quiet", "--hard", "main")
	w.restoreAside(dir)
	return w
}

func (w *world) importHistory(repository, file string) {
	w.t.Helper()
	absolute, err := filepath.Abs(file)
	require.NoError(w.t, err)
	w.run(repository, "sh", "-c", `git fast-import --quiet --done < "$1"`, "sh", absolute)
}

func (w *world) restoreAside(dir string) {
	w.t.Helper()
	w.run("", "cp", filepath.Join(dir, "values"), filepath.Join(w.side, "values"))
}

// restoredHub is a world with a remote on GitHub, as a frozen one was.
func restoredHub(t *testing.T, dir string) *hub {
	t.Helper()
	w := emptyWorld(t)
	s := &scene{world: w, bare: filepath.Join(w.side, "remote.git")}
	w.run("", "git", "init", "--quiet", "--bare", "--initial-branch=main", s.bare)
	w.importHistory(s.bare, filepath.Join(dir, "remote.fast-import"))
	w.git("remote", "add", "origin", s.bare)
	w.git("fetch", "--quiet", "origin")
	w.git("reset", "--quiet", "--hard", "origin/main")
	w.restoreAside(dir)
	state := &githubtest.State{}
	require.NoError(t, json.Unmarshal([]byte(frozenFile(t, dir, "github.json")), state))
	return s.hub(state)
}

// frozenEntry is a file, directory or link of a directory that git cannot hold,
// because of its permissions or of a repository in it.
type frozenEntry struct {
	Path string `json:"path"`
	Mode string `json:"mode"`
	Text string `json:"text,omitempty"`
	Link string `json:"link,omitempty"`
}

// restoreTree puts a frozen directory there.
func restoreTree(t *testing.T, file, dir string) {
	t.Helper()
	var entries []frozenEntry
	require.NoError(t, json.Unmarshal([]byte(frozenFile(t, file)), &entries))
	modes := map[string]os.FileMode{}
	for _, e := range entries {
		place := filepath.Join(dir, filepath.FromSlash(strings.TrimSuffix(e.Path, "/")))
		mode, err := strconv.ParseUint(e.Mode, 8, 32)
		require.NoError(t, err)
		switch {
		case e.Link != "":
			require.NoError(t, os.Symlink(e.Link, place))
			continue
		case strings.HasSuffix(e.Path, "/"):
			require.NoError(t, os.MkdirAll(place, 0o755))
		default:
			require.NoError(t, os.MkdirAll(filepath.Dir(place), 0o755))
			require.NoError(t, os.WriteFile(place, []byte(e.Text), 0o600))
		}
		modes[place] = os.FileMode(mode)
	}
	for place, mode := range modes {
		require.NoError(t, os.Chmod(place, mode))
	}
	t.Cleanup(func() { // so that the directory can be removed
		_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				return os.Chmod(path, 0o755)
			}
			return err
		})
	})
}

// atHome puts the place of a world for the one in a frozen file.
func (w *world) atHome(text string) string {
	return strings.ReplaceAll(text, frozenHome, filepath.Dir(w.dir))
}
