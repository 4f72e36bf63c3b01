package loop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/prompt"
)

// TestTakeNotes: the agent's file is read and goes, unless it is the repository's own or is
// no regular file; nothing secret is taken, also where only a part of it is read.
func TestTakeNotes(t *testing.T) {
	t.Parallel()
	const secret, directory, link = "hunter2-hunter2-hunter2", "directory", "link"
	filler := func(size int) string { return strings.Repeat("x", size-1) + "\n" }
	for name, c := range map[string]struct {
		text    string
		tracked bool
		want    prompt.Notes
		stays   bool
	}{
		"notes": {
			text: "LESSON: one\nIDEA: two\nFORECLOSED: three\n",
			want: prompt.Notes{Lessons: []string{"one"}, Ideas: []string{"two"}, Foreclosed: []string{"three"}},
		},
		"the repository's own":       {text: "LESSON: one\n", tracked: true, stays: true},
		"a link":                     {text: link, stays: true},
		"what is beyond is not read": {text: filler(prompt.MaxNotes) + "LESSON: one\n"},
		"a secret at the end of it": {
			text: filler(prompt.MaxNotes-20) + "LESSON: a " + secret + " ok\n",
			want: prompt.Notes{Lessons: []string{"a *** ok"}},
		},
	} {
		around := t.TempDir()
		dir := filepath.Join(around, "tree")
		path := filepath.Join(dir, prompt.NotesFile)
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(around, "outside.txt"), []byte("LESSON: stolen\n"), 0o600))
		switch c.text {
		case directory:
			require.NoError(t, os.Mkdir(path, 0o700))
		case link:
			require.NoError(t, os.Symlink("../outside.txt", path))
		default:
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
		}
		at := position{}
		if c.tracked {
			at.entries = []git.TreeEntry{{Mode: git.ModeFile, Path: prompt.NotesFile}}
		}
		assert.Equal(t, !c.tracked, handsBack(at), name)
		for range 2 {
			got, err := takeNotes(at, dir, process.NewMasker(nil, secret))
			require.NoError(t, err, name)
			assert.Equal(t, history.Notes(c.want), got, name)
			_, err = os.Lstat(path)
			assert.Equal(t, c.stays, err == nil, name)
			c.want = prompt.Notes{} // they are taken once
		}
	}
	_, err := takeNotes(position{}, filepath.Join(t.TempDir(), "gone"), process.Masker{})
	require.ErrorContains(t, err, "open the tree")
}
