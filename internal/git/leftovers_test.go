package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLeftoversOfKilledGits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	old := time.Now().Add(-2 * time.Hour)
	for name, kept := range map[string]bool{
		"ab/tmp_obj_X1y2Z3": false, "pack/tmp_pack_abcdef": false, "tmp_obj_abcdef": false, "tmp_obj_THEIRS": true,
		"ab/0123456789012345678901234567890123456789": true, "pack/tmp_mine": true, "ab/tmp_obj_": true, "info/tmp_obj_abcdef": true,
	} {
		for young, path := range map[bool]string{false: name, true: name + "N"} {
			file := filepath.Join(f.dir, ".git", "objects", filepath.FromSlash(path))
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, nil, 0o444))
			if !young {
				require.NoError(t, os.Chtimes(file, old, old))
			}
			f.repo.RemoveLeftovers(func(info os.FileInfo) bool { return !strings.HasSuffix(info.Name(), "THEIRS") })
			if kept || young {
				assert.FileExists(t, file)
			} else {
				assert.NoFileExists(t, file)
			}
		}
	}
}
