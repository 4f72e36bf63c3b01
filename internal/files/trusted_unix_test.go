//go:build unix

package files_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/tests/long"
)

func TestTrusted(t *testing.T) {
	t.Parallel()
	const nobody = 65534
	own := func(name string, user, group int) func(string) error {
		return func(root string) error { return os.Lchown(filepath.Join(root, name), user, group) }
	}
	link := func(to string) func(string) error {
		return func(root string) error { return os.Symlink(to, filepath.Join(root, "link")) }
	}
	type steps = []func(root string) error
	for name, c := range map[string]struct {
		mode    os.FileMode // of the directory d
		steps   steps
		path    string
		asRoot  bool // it takes a second user
		refused string
	}{
		"our own":                      {mode: 0o755, path: "d"},
		"not there yet":                {mode: 0o777 | os.ModeSticky, path: "d/a/b"},
		"below one without sticky bit": {mode: 0o777, path: "d/a", refused: "can be written by everybody"},
		"that everybody may write":     {mode: 0o777 | os.ModeSticky, path: "d", refused: "chmod go-w "},
		"of our own group":             {mode: 0o775, steps: steps{own("d", -1, os.Getegid())}, path: "d"},
		"of another group": {
			mode: 0o775, steps: steps{own("d", -1, nobody)}, path: "d", asRoot: true,
			refused: "can be written by others",
		},
		"of another user": {
			mode: 0o755, steps: steps{own("d", nobody, nobody)}, path: "d", asRoot: true,
			refused: "belongs to another user (65534)",
		},
		"a link of ours": {mode: 0o755, steps: steps{link("d")}, path: "link"},
		"a link of ours to another user's": {
			mode: 0o755, steps: steps{link("d"), own("d", nobody, nobody)}, path: "link", asRoot: true,
			refused: "belongs to another user",
		},
		"a link of another user": {
			mode: 0o755, steps: steps{link("d"), own("link", nobody, nobody)}, path: "link/below", asRoot: true,
			refused: "is a link of another user",
		},
		"links in a circle": {mode: 0o755, steps: steps{link("link")}, path: "link", refused: "too many links"},
		"a file": {mode: 0o755, steps: steps{func(root string) error {
			return os.WriteFile(filepath.Join(root, "f"), nil, 0o600)
		}}, path: "f", refused: "is no directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.asRoot {
				long.Root(t, "giving files to another user")
			}
			root := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(root, "d"), 0o700))
			require.NoError(t, os.Chmod(filepath.Join(root, "d"), c.mode))
			for _, step := range c.steps {
				require.NoError(t, step(root))
			}
			err := files.Trusted(filepath.Join(root, c.path))
			if c.refused == "" {
				require.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, c.refused)
		})
	}
}
