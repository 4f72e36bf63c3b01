package skill

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/tests/testdir"
)

// side reads a directory: "a=x" is a file, of the lines x, "a+x" one that runs, "a>b" a link, "a/" a
// directory.
func side(text string) paths {
	list := paths{}
	for entry := range strings.FieldsSeq(text) {
		at := strings.IndexAny(entry, "=+>")
		if at < 0 {
			list[entry] = ""
			continue
		}
		name, lines := entry[:at], strings.ReplaceAll(entry[at+1:], ",", "\n")+"\n"
		switch entry[at] {
		case '>':
			lines = "-> " + entry[at+1:]
		case '+':
			lines = "-rwxr-xr-x " + lines
		}
		list[name] = lines
	}
	return list
}

// TestMerge joins what a person made of a skill with what a version made of it. Each
// case holds with the sides exchanged.
func TestMerge(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]string{ // what was, both sides, and what becomes of them or the conflicts
		"nothing":                     "a=1 | a=1 | a=1 | a=1",
		"one side alone":              "a=1 b=1 | a=2 b=1 | a=1 b=1 | a=2 b=1",
		"different files":             "a=1 b=1 | a=2 b=1 | a=1 b=2 | a=2 b=2",
		"different lines":             "a=1,2,3,4,5 | a=x,2,3,4,5 | a=1,2,3,4,y | a=x,2,3,4,y",
		"the same line alike":         "a=1 | a=2 | a=2 | a=2",
		"the same line":               "a=1 | a=2 | a=3 | ! a",
		"several of them":             "a=1 b=1 c=1 | a=2 b=2 c=2 | a=3 b=2 c=3 | ! a c",
		"new files":                   "a=1 | a=1 d/b=1 | a=1 e/f/c=1 | a=1 d/b=1 e/f/c=1",
		"a new file in both, alike":   "a=1 | a=1 b=1 | a=1 b=1 | a=1 b=1",
		"a new file in both, not so":  "a=1 | a=1 b=1 | a=1 b=2 | ! b",
		"a new file that runs":        "a=1 | a=1 b+1 | a=1 | a=1 b+1",
		"one removes":                 "a=1 b=1 | a=1 | a=1 b=1 | a=1",
		"one removes, one changes":    "a=1 b=1 | a=1 | a=1 b=2 | ! b",
		"both remove":                 "a=1 b=1 | a=1 | a=1 | a=1",
		"a directory goes":            "a=1 d/b=1 | a=2 d/b=1 | a=1 | a=2",
		"a directory goes, with more": "a=1 d/b=1 | a=1 d/b=1 d/c=1 | a=1 | a=1 d/c=1",
		"empty directories":           "a=1 | a=1 e/ | a=1 f/ | a=1 e/ f/",
		"an empty directory goes":     "a=1 e/ | a=1 e/ | a=1 | a=1",
		"it runs, and another text":   "a=1 | a+1 | a=2 | a+2",
		"it runs no more":             "a+1 b=1 | a=1 b=1 | a+1 b=2 | a=1 b=2",
		"a link":                      "a=1 b>a | a=2 b>a | a=1 b>c c=1 | a=2 b>c c=1",
		"a link for a file":           "a=1 b=1 | a=1 b>a | a=2 b=1 | a=2 b>a",
		"a file for a directory":      "a=1 d/b=1 | a=1 d=2 | a=2 d/b=1 | a=2 d=2",
		"a directory for a file":      "a=1 d=1 | a=1 d/b=2 | a=2 d=1 | a=2 d/b=2",
		"a file, and one below it":    "a=1 | a=1 d=1 | a=1 d/b=1 | ! d",
	} {
		for _, second := range []int{1, 2} {
			t.Run(fmt.Sprint(name, " ", second), func(t *testing.T) {
				t.Parallel()
				parts := strings.Split(row, "|")
				parts[1], parts[second] = parts[second], parts[1]
				base := testdir.New(t, paths{"scratch/": ""})
				var sides [3]Content
				for i := range sides {
					dir := filepath.Join(base, fmt.Sprint(i))
					testdir.Put(t, dir, side(parts[i]))
					sides[i] = contentOf(t, dir)
				}
				repo, err := git.Scratch(t.Context(), filepath.Join(base, "scratch"),
					[]string{"PATH=" + os.Getenv("PATH"), "HOME=" + base})
				require.NoError(t, err)
				merged, conflicts, err := merge(t.Context(), repo, sides[0], sides[1], sides[2], filepath.Join(base, "into"))
				require.NoError(t, err)
				if files, is := strings.CutPrefix(strings.TrimSpace(parts[3]), "!"); is {
					assert.Equal(t, strings.Fields(files), conflicts)
					return
				}
				require.Empty(t, conflicts)
				require.NoError(t, PutSnapshot(t.Context(), merged, filepath.Join(base, "kept")))
				_, err = Restore(t.Context(), filepath.Join(base, "kept"), filepath.Join(base, "out"))
				require.NoError(t, err)
				assert.Equal(t, side(parts[3]), testdir.Has(t, filepath.Join(base, "out")))
				for _, one := range sides {
					assert.Equal(t, one, contentOf(t, one.Dir), "it is only read")
				}
			})
		}
	}
}
