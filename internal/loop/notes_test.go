package loop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/prompt"
)

// TestTakeNotes: the agent's file is read and goes, unless it is the repository's own or is
// no regular file; nothing secret is taken, also where only a part of it is read.
func TestTakeNotes(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-hunter2-hunter2"
	filler := func(size int) string { return strings.Repeat("x", size-1) + "\n" }
	for name, c := range map[string]struct {
		text    string // "" for no file
		tracked bool
		make    func(path string) error // makes something else
		want    prompt.Notes
		stays   bool
	}{
		"notes": {
			text: "LESSON: one\nIDEA: two\nFORECLOSED: three\n",
			want: prompt.Notes{Lessons: []string{"one"}, Ideas: []string{"two"}, Foreclosed: []string{"three"}},
		},
		"the repository's own": {text: "LESSON: one\n", tracked: true, stays: true},
		"a directory":          {make: func(path string) error { return os.Mkdir(path, 0o700) }, stays: true},
		"a secret": {
			text: "LESSON: the token " + secret + " works\n",
			want: prompt.Notes{Lessons: []string{"the token *** works"}},
		},
		"what is beyond is not read": {text: filler(prompt.MaxNotes) + "LESSON: one\n"},
		"a secret at the end of it": {
			text: filler(prompt.MaxNotes-20) + "LESSON: a " + secret + " ok\n",
			want: prompt.Notes{Lessons: []string{"a *** ok"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			around := t.TempDir()
			dir := filepath.Join(around, "tree")
			path := filepath.Join(dir, prompt.NotesFile)
			require.NoError(t, os.Mkdir(dir, 0o700))
			for _, file := range []string{"outside.txt", "tree/value.txt"} {
				require.NoError(t, os.WriteFile(filepath.Join(around, file), []byte("LESSON: stolen\n"), 0o600))
			}
			switch {
			case c.make != nil:
				require.NoError(t, c.make(path))
			case c.text != "":
				require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
			}
			at := position{}
			if c.tracked {
				at.entries = []git.TreeEntry{{Mode: git.ModeFile, Path: prompt.NotesFile}}
			}
			assert.Equal(t, !c.tracked, handsBack(at))
			for range 2 {
				got, err := takeNotes(at, dir, process.NewMasker(nil, secret))
				require.NoError(t, err)
				assert.Equal(t, c.want, got)
				_, err = os.Lstat(path)
				assert.Equal(t, c.stays, err == nil)
				c.want = prompt.Notes{} // they are taken once
			}
		})
	}
	_, err := takeNotes(position{}, filepath.Join(t.TempDir(), "gone"), process.Masker{})
	require.ErrorContains(t, err, "open the tree")
}
