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

	"github.com/org/autoloop/internal/history"
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

// TestTranscriptOfEachAgent: an agent's and an evaluation's have names of their own, in a
// directory of the program, for the user alone; where none are kept there is no name.
func TestTranscriptOfEachAgent(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "kept")
	j := &journal{session: &session{
		Service: &Service{Program: &program.Program{Name: "p"}, Transcripts: dir},
		course:  course{id: "20260304T120000Z-abc1", iteration: 12},
	}}
	r, m := &team{thread: threadOf(j)}, &measurer{spending: &spending{journal: j}}
	for _, want := range []string{
		"12-2-open-code", filepath.Join("evaluations", "12-1-baseline"), filepath.Join("evaluations",
			"12-2-baseline"), "",
	} {
		make := func() (string, error) { return m.output(history.Baseline) }
		if filepath.Dir(want) == "." {
			make = func() (string, error) { return r.transcript(&attempt{number: 2, agent: agentNamed("open-code")}) }
		}
		if want == "" {
			r.Transcripts = ""
			file, err := m.output(history.Incumbent)
			require.NoError(t, err)
			assert.Empty(t, file)
		}
		file, err := make()
		require.NoError(t, err)
		if want == "" {
			assert.Empty(t, file)
			continue
		}
		assert.Equal(t, filepath.Join(dir, "p", want+"-20260304T120000Z-abc1.txt"), file)
		assert.Regexp(t, transcriptName(), filepath.Base(file), "it is one of those that are removed")
		info, err := os.Stat(filepath.Dir(file))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	}
}

// TestRoomForOneMore: before a transcript is written the oldest go, so that with it there
// are no more than may be.
func TestRoomForOneMore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := &session{Service: &Service{Program: &program.Program{Name: "p"}}, course: course{id: "run", iteration: 99}}
	for n := range maxTranscripts + 5 {
		put(t, filepath.Join(dir, fmt.Sprintf("%d-1-codex-run.txt", n)), 1, time.Duration(n)*time.Hour)
	}
	file, err := s.keptFile(dir, 1, "codex")
	require.NoError(t, err)
	put(t, file, 1, 0)
	names := namesIn(t, dir)
	assert.Len(t, names, maxTranscripts)
	assert.Contains(t, names, "48-1-codex-run.txt")
	assert.NotContains(t, names, "49-1-codex-run.txt")
	_, err = s.keptFile(filepath.Join(file, "below a file"), 1, "codex")
	require.ErrorContains(t, err, "keep the transcripts: ")
}

// TestOutputsOfAnIteration: the files of a run's iteration in the order in which they were
// written, wherever the directory is.
func TestOutputsOfAnIteration(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"kept", "a [b] c"} {
		dir := filepath.Join(t.TempDir(), name)
		j := &journal{session: &session{Service: &Service{Program: &program.Program{Name: "p"}, Transcripts: dir}}}
		m := &measurer{spending: &spending{journal: j}}
		var want []string
		for _, run := range []string{"run-1", "run-10", "1"} {
			for j.iteration = range 13 {
				j.id = run
				for n := range 2 {
					file, err := m.output(history.Candidate)
					require.NoError(t, err)
					put(t, file, 1, -time.Duration(n)*time.Second)
					if j.iteration == 1 && run == "run-1" {
						want = append(want, file)
					}
				}
			}
		}
		_, err := os.Stat(want[0])
		require.NoError(t, err)
		assert.Equal(t, want, Outputs(dir, "p", 1, "run-1"), name)
		assert.Empty(t, Outputs(dir, "p", 1, "run-*"))
		assert.Empty(t, Outputs(dir, "other", 1, "run-1"))
	}
}
