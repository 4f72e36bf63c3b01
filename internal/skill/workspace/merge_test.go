package workspace_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/skill/workspace"
)

// side makes a directory of a list: "a=x" is a file, "a+x" one that runs, "a>b" a
// link, "a/" a directory.
func side(t *testing.T, dir, list string) workspace.Kept {
	t.Helper()
	require.NoError(t, os.Mkdir(dir, 0o755))
	for entry := range strings.FieldsSeq(list) {
		at := strings.IndexAny(entry, "=+>")
		switch {
		case at < 0:
			require.NoError(t, os.MkdirAll(filepath.Join(dir, entry), 0o755))
		case entry[at] == '>':
			require.NoError(t, os.Symlink(entry[at+1:], filepath.Join(dir, entry[:at])))
		default:
			write(t, dir, entry[:at], strings.ReplaceAll(entry[at+1:], ",", "\n")+"\n",
				map[byte]fs.FileMode{'=': 0o644, '+': 0o755}[entry[at]])
		}
	}
	return workspace.Kept{Dir: dir, Tree: scan(t, dir)}
}

// listed is the list of a directory.
func listed(t *testing.T, kept workspace.Kept) string {
	t.Helper()
	var list []string
	for _, e := range kept.Tree {
		switch {
		case e.IsDir():
			list = append(list, e.Path+"/")
		case e.IsLink():
			list = append(list, e.Path+">"+e.Target)
		default:
			data, err := os.ReadFile(filepath.Join(kept.Dir, e.Path))
			require.NoError(t, err)
			list = append(list, e.Path+map[bool]string{
				false: "=",
				true:  "+",
			}[e.Mode&0o100 != 0]+strings.ReplaceAll(strings.TrimSuffix(string(data), "\n"), "\n", ","))
		}
	}
	return strings.Join(list, " ")
}

// TestMerge joins what a person made of a skill with what a version made of it. Each
// case holds with the sides exchanged, unless it says otherwise.
func TestMerge(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes and links need another system")
	}
	for name, c := range map[string]struct {
		base, ours, theirs string
		merged             string
		conflicts          string
	}{
		"nothing":                     {"a=1", "a=1", "a=1", "a=1", ""},
		"one side alone":              {"a=1 b=1", "a=2 b=1", "a=1 b=1", "a=2 b=1", ""},
		"different files":             {"a=1 b=1", "a=2 b=1", "a=1 b=2", "a=2 b=2", ""},
		"different lines":             {"a=1,2,3,4,5", "a=x,2,3,4,5", "a=1,2,3,4,y", "a=x,2,3,4,y", ""},
		"the same line alike":         {"a=1", "a=2", "a=2", "a=2", ""},
		"the same line":               {"a=1", "a=2", "a=3", "", "a"},
		"several of them":             {"a=1 b=1 c=1", "a=2 b=2 c=2", "a=3 b=2 c=3", "", "a c"},
		"new files":                   {"a=1", "a=1 d/b=1", "a=1 e/f/c=1", "a=1 d/ d/b=1 e/ e/f/ e/f/c=1", ""},
		"a new file in both, alike":   {"a=1", "a=1 b=1", "a=1 b=1", "a=1 b=1", ""},
		"a new file in both, not so":  {"a=1", "a=1 b=1", "a=1 b=2", "", "b"},
		"one removes":                 {"a=1 b=1", "a=1", "a=1 b=1", "a=1", ""},
		"one removes, one changes":    {"a=1 b=1", "a=1", "a=1 b=2", "", "b"},
		"both remove":                 {"a=1 b=1", "a=1", "a=1", "a=1", ""},
		"a directory goes":            {"a=1 d/b=1", "a=2 d/b=1", "a=1", "a=2", ""},
		"a directory goes, with more": {"a=1 d/b=1", "a=1 d/b=1 d/c=1", "a=1", "a=1 d/ d/c=1", ""},
		"empty directories":           {"a=1", "a=1 e/", "a=1 f/", "a=1 e/ f/", ""},
		"an empty directory goes":     {"a=1 e/", "a=1 e/", "a=1", "a=1", ""},
		"it runs, and another text":   {"a=1", "a+1", "a=2", "a+2", ""},
		"it runs no more":             {"a+1 b=1", "a=1 b=1", "a+1 b=2", "a=1 b=2", ""},
		"a link":                      {"a=1 b>a", "a=2 b>a", "a=1 b>c c=1", "a=2 b>c c=1", ""},
		"a link for a file":           {"a=1 b=1", "a=1 b>a", "a=2 b=1", "a=2 b>a", ""},
		"a file for a directory":      {"a=1 d/b=1", "a=1 d=2", "a=2 d/b=1", "a=2 d=2", ""},
		"a directory for a file":      {"a=1 d=1", "a=1 d/b=2", "a=2 d=1", "a=2 d/ d/b=2", ""},
		"a file, and one below it":    {"a=1", "a=1 d=1", "a=1 d/b=1", "", "d"},
	} {
		for _, exchanged := range []bool{false, true} {
			t.Run(fmt.Sprint(name, exchanged), func(t *testing.T) {
				t.Parallel()
				if exchanged {
					c.ours, c.theirs = c.theirs, c.ours
				}
				base := writableDir(t)
				sides := []workspace.Kept{
					side(t, filepath.Join(base, "base"), c.base),
					side(t, filepath.Join(base, "ours"), c.ours), side(t, filepath.Join(base, "theirs"), c.theirs),
				}
				into, scratch := filepath.Join(base, "into"), filepath.Join(base, "scratch")
				for _, dir := range []string{into, scratch} {
					require.NoError(t, os.Mkdir(dir, 0o755))
				}
				repo, err := git.Scratch(t.Context(), scratch, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + base})
				require.NoError(t, err)
				conflicts, err := workspace.Merge(t.Context(), repo, sides[0], sides[1], sides[2], into)
				require.NoError(t, err)
				if c.conflicts != "" {
					for i, name := range conflicts { // git gives one side's file another name beside a directory
						conflicts[i], _, _ = strings.Cut(name, "~")
					}
					assert.Equal(t, strings.Fields(c.conflicts), conflicts)
					return
				}
				require.Empty(t, conflicts)
				assert.Equal(t, c.merged, listed(t, workspace.Kept{Dir: into, Tree: scan(t, into)}))
				for i, dir := range []string{"base", "ours", "theirs"} {
					assert.Equal(t, sides[i].Tree, scan(t, filepath.Join(base, dir)), "%s is only read", dir)
				}
			})
		}
	}
}
