package loop

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
)

// put writes a file of so many bytes that is so old.
func put(t *testing.T, file string, bytes int, age time.Duration) {
	t.Helper()
	require.NoError(t, os.WriteFile(file, make([]byte, bytes), 0o600))
	require.NoError(t, os.Chtimes(file, midday, midday.Add(-age)))
}

// namesIn are the files of a directory, sorted.
func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// TestOtherFilesStay: only what looks like a transcript, and is a file, is removed or
// counted.
func TestOtherFilesStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	others := []string{
		"notes.txt", "1-1-codex-run.txt.gz", "1-codex-run.txt", "1-1-codex-r un.txt",
	}
	for _, name := range others {
		put(t, filepath.Join(dir, name), 50, time.Hour)
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "2-1-codex-run.txt"), 0o700))
	require.NoError(t, os.Symlink("notes.txt", filepath.Join(dir, "3-1-codex-run.txt")))
	put(t, filepath.Join(dir, "4-1-open-code-run-7-1.txt"), 50, time.Hour)
	before := namesIn(t, dir)
	require.NoError(t, removeOldest(dir, 1, 50), "there is room for the one")
	assert.Equal(t, before, namesIn(t, dir))
	require.NoError(t, removeOldest(dir, 0, 1000))
	after := slices.DeleteFunc(slices.Clone(before), func(name string) bool { return strings.HasPrefix(name, "4-") })
	assert.Equal(t, after, namesIn(t, dir))
	require.Error(t, removeOldest(filepath.Join(dir, "missing"), 1, 1))
}

// keeping is a run whose transcripts are kept in a directory.
func keeping(dir string) *session {
	return &session{
		Service: &Service{Program: &program.Program{Name: "p"}, Transcripts: dir},
		course:  course{id: "20260304T120000Z-abc1", iteration: 99},
	}
}

// TestTranscriptOfEachAgent: an agent's and an evaluation's have names of their own, in a
// directory of the program, for the user alone; where none are kept there is no name.
func TestTranscriptOfEachAgent(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "kept")
	s := keeping(dir)
	for _, below := range []string{"", evaluations} {
		file, err := s.keptFile(below, 2, "open-code")
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(dir, "p", below, "99-2-open-code-20260304T120000Z-abc1.txt"), file)
		assert.Regexp(t, transcriptName(), filepath.Base(file), "it is one of those that are removed")
		info, err := os.Stat(filepath.Dir(file))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	}
	file, err := keeping("").keptFile("", 2, "open-code")
	require.NoError(t, err)
	assert.Empty(t, file)
}

// TestRoomForOneMore: before a transcript is written the oldest go, so that with it there
// are no more than may be.
func TestRoomForOneMore(t *testing.T) {
	t.Parallel()
	s := keeping(t.TempDir())
	dir := filepath.Join(s.Transcripts, "p")
	require.NoError(t, os.Mkdir(dir, 0o700))
	for n := range maxTranscripts + 5 {
		put(t, filepath.Join(dir, fmt.Sprintf("%d-1-codex-run.txt", n)), 1, time.Duration(n)*time.Hour)
	}
	file, err := s.keptFile("", 1, "codex")
	require.NoError(t, err)
	put(t, file, 1, 0)
	names := namesIn(t, dir)
	assert.Len(t, names, maxTranscripts)
	assert.Contains(t, names, "48-1-codex-run.txt")
	assert.NotContains(t, names, "49-1-codex-run.txt")
	_, err = keeping(file).keptFile("", 1, "codex")
	require.ErrorContains(t, err, "keep the transcripts: ")
}

// TestOutputsOfAnIteration: the files of a run's iteration in the order of their numbers, also where the clock is
// too coarse to tell, wherever the directory is.
func TestOutputsOfAnIteration(t *testing.T) {
	t.Parallel()
	s := keeping(filepath.Join(t.TempDir(), "a [b] c"))
	var want []string
	for _, s.id = range []string{"run-1", "run-10", "1"} {
		for _, s.iteration = range []int{1, 11} {
			for _, number := range []int{1, 2, 10} {
				file, err := s.keptFile(evaluations, number, "candidate")
				require.NoError(t, err)
				put(t, file, 1, 0)
				if s.iteration == 1 && s.id == "run-1" {
					want = append(want, file)
				}
			}
		}
	}
	assert.Equal(t, want, Outputs(s.Transcripts, "p", 1, "run-1"))
	assert.Empty(t, Outputs(s.Transcripts, "p", 1, "run-*"))
	assert.Empty(t, Outputs(s.Transcripts, "other", 1, "run-1"))
}
