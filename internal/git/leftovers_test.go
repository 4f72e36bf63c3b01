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

// TestLeftoversOfKilledGits: temporary objects that are old and ours are removed, here
// and on a remote of this machine, bare or not.
func TestLeftoversOfKilledGits(t *testing.T) {
	t.Parallel()
	for where, c := range map[string]struct{ objects, remote string }{
		"here": {".git/objects", ""}, "a bare remote": {"../remote.git/objects", "remote"}, "another checkout": {"../clone/.git/objects", "../clone"},
		"another remote": {"../other/objects", "origin"},
	} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.user("remote", "add", "remote", "file://"+filepath.ToSlash(filepath.Join(f.dir, "..", "remote.git")))
			f.user("remote", "add", "origin", "https://127.0.0.1:1/other.git")
			objects := filepath.Join(f.dir, filepath.FromSlash(c.objects))
			for name, left := range map[string]bool{
				"ab/tmp_obj_X1y2Z3": true, "pack/tmp_pack_abcdef": true, "tmp_obj_abcdef": true, "tmp_objdir-incoming-aB3dEf/pack/tmp_pack_x": true,
				"tmp_objdir-incoming-aB3dEg/0a/123": true, "tmp_objdir-bulk-fsync-xyz/0b/456": true, "tmp_objdir-incoming-aB3dEh/THEIRS": false,
				"tmp_obj_THEIRS": false, "ab/0123456789012345678901234567890123456789": false, "pack/tmp_mine": false, "ab/tmp_obj_": false,
				"info/tmp_obj_abcdef": false, "tmp_objdir/x": false,
			} {
				for _, young := range []bool{false, true} {
					file := filepath.Join(objects, filepath.FromSlash(name))
					if young {
						file += "N"
					}
					require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
					require.NoError(t, os.WriteFile(file, nil, 0o444))
					if !young {
						old := time.Now().Add(-2 * time.Hour)
						for dir := file; dir != objects; dir = filepath.Dir(dir) {
							require.NoError(t, os.Chtimes(dir, old, old))
						}
					}
					f.repo.RemoveLeftovers(t.Context(), c.remote, func(info os.FileInfo) bool { return !strings.HasSuffix(info.Name(), "THEIRS") })
					if young || !left || where == "another remote" {
						assert.FileExists(t, file)
					} else {
						assert.NoFileExists(t, file)
					}
				}
			}
		})
	}
}
