package tests

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
