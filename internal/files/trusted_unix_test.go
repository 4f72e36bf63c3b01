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
	for name, c := range map[string]struct {
		make    func(t *testing.T, root string) string
		asRoot  bool // it takes a second user
		refused string
	}{
		"our own": {make: func(t *testing.T, root string) string { return directory(t, root, "d", 0o755) }},
		"a directory that is not there yet": {
			make: func(t *testing.T, root string) string {
				return filepath.Join(directory(t, root, "shared", 0o1777), "a", "b")
			},
		},
		"below one that everybody may write, without the sticky bit": {
			make: func(t *testing.T, root string) string {
				return filepath.Join(directory(t, root, "open", 0o777), "d")
			},
			refused: "can be written by everybody",
		},
		"that everybody may write": {
			make:    func(t *testing.T, root string) string { return directory(t, root, "d", 0o1777) },
			refused: "chmod go-w ",
		},
		"that our own group may write": {make: func(t *testing.T, root string) string {
			dir := directory(t, root, "d", 0o775)
			require.NoError(t, os.Chown(dir, -1, os.Getegid()))
			return dir
		}},
		"that another group may write": {
			asRoot: true, refused: "can be written by others",
			make: func(t *testing.T, root string) string {
				dir := directory(t, root, "d", 0o755)
				require.NoError(t, os.Chown(dir, -1, nobody))
				require.NoError(t, os.Chmod(dir, 0o775))
				return dir
			},
		},
		"of another user": {
			asRoot: true, refused: "belongs to another user (65534)",
			make: func(t *testing.T, root string) string {
				dir := directory(t, root, "d", 0o755)
				require.NoError(t, os.Chown(dir, nobody, nobody))
				return dir
			},
		},
		"a link of ours": {make: func(t *testing.T, root string) string {
			directory(t, root, "d", 0o755)
			return link(t, root, "d")
		}},
		"a link of ours to what is another user's": {
			asRoot: true, refused: "belongs to another user",
			make: func(t *testing.T, root string) string {
				require.NoError(t, os.Chown(directory(t, root, "d", 0o755), nobody, nobody))
				return link(t, root, "d")
			},
		},
		"a link of another user to what is ours": {
			asRoot: true, refused: "is a link of another user",
			make: func(t *testing.T, root string) string {
				directory(t, root, "d", 0o755)
				name := link(t, root, "d")
				require.NoError(t, os.Lchown(name, nobody, nobody))
				return filepath.Join(name, "below")
			},
		},
		"links in a circle": {
			make: func(t *testing.T, root string) string { return link(t, root, "link") }, refused: "too many links",
		},
		"a file": {
			refused: "is no directory",
			make: func(t *testing.T, root string) string {
				name := filepath.Join(root, "f")
				require.NoError(t, os.WriteFile(name, nil, 0o600))
				return name
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.asRoot {
				long.Root(t, "giving files to another user")
			}
			err := files.Trusted(c.make(t, t.TempDir()))
			if c.refused == "" {
				require.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, c.refused)
		})
	}
}

func directory(t *testing.T, root, name string, mode os.FileMode) string {
	t.Helper()
	dir := filepath.Join(root, name)
	require.NoError(t, os.Mkdir(dir, 0o700))
	if mode&0o1000 != 0 {
		mode = mode&0o777 | os.ModeSticky
	}
	require.NoError(t, os.Chmod(dir, mode))
	return dir
}

func link(t *testing.T, root, to string) string {
	t.Helper()
	name := filepath.Join(root, "link")
	require.NoError(t, os.Symlink(to, name))
	return name
}
