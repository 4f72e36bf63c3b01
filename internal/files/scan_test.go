package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/tests/golden"
)

func scanned(t *testing.T, setting func(*files.Scanner)) (paths []string, err error) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"a/b/c/deep", "a/small", "big", "skipped/inside", "z"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("x", len(name))), 0o644))
	}
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "link")))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer func() { _ = root.Close() }()
	scanner := &files.Scanner{Root: root}
	setting(scanner)
	found, err := scanner.Read(t.Context())
	for _, e := range found {
		text := e.Path
		if e.IsFile() && e.SHA256 == "" {
			text += " unread"
		}
		paths = append(paths, text)
	}
	return paths, err
}

func TestScanner(t *testing.T) {
	t.Parallel()
	pass := func(string, error) error { return nil }
	for name, c := range map[string]struct {
		setting func(*files.Scanner)
		err     string
	}{
		"all": {
			func(*files.Scanner) {},
			"",
		},
		"skipped": {func(s *files.Scanner) {
			s.Skip = func(n string) bool {
				return n == "skipped" ||
					n == "a/b"
			}
		}, ""},
		"kept": {func(s *files.Scanner) {
			s.Keep = func(n string) bool {
				return strings.HasSuffix(n, "deep")
			}
		}, ""},
		"within": {
			func(s *files.Scanner) { s.Within = func(n string) bool { return n == "a" } },
			"",
		},
		"too many": {func(s *files.Scanner) { s.MaxEntries = 3 }, "is one path too many: there may be 3"},
		"too deep": {func(s *files.Scanner) { s.MaxDepth = 1 }, "is too deep"},
		"too deep, passed": {
			func(s *files.Scanner) { s.MaxDepth, s.Fault = 1, pass },
			"",
		},
		"too large": {func(s *files.Scanner) { s.MaxBytes = 12 }, "makes it larger than 12 bytes"},
		"too large, passed": {
			func(s *files.Scanner) { s.MaxBytes, s.Fault = 12, pass },
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			paths, err := scanned(t, c.setting)
			if c.err != "" {
				var limit *files.LimitError
				require.ErrorAs(t, err, &limit)
				assert.Equal(t, c.err, limit.Reason)
				return
			}
			require.NoError(t, err)
			golden.Line(t, strings.Join(paths, " "))
		})
	}
}
