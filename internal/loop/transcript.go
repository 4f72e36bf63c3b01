package loop

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/lazyregexp"
)

// How much is kept of a program's transcripts. What one agent printed is bounded by
// its adapter.
const (
	maxTranscripts     = 50
	maxTranscriptBytes = 100 << 20
)

// transcriptName matches the names of what is kept: iteration, number, agent or
// side, run.
var transcriptName = lazyregexp.New(`^[0-9]+-[0-9]+-[a-z-]+-[0-9A-Za-z-]+\.txt$`)

// evaluations is the directory of what evaluations printed, below that of a program.
const evaluations = "evaluations"

// Outputs are the files of a directory of transcripts that keep what the
// evaluations of a program's iteration printed in a run, in their order.
func Outputs(transcripts, program string, iteration int, run string) (list []string) {
	dir := filepath.Join(transcripts, program, evaluations)
	kept, _ := transcriptsIn(dir)
	numbers := map[string]int{}
	for _, file := range kept {
		part := strings.SplitN(file.Name(), "-", 4) // as keptFile names it
		if part[0] == strconv.Itoa(iteration) && part[3] == run+".txt" {
			name := filepath.Join(dir, file.Name())
			numbers[name], _ = strconv.Atoi(part[1])
			list = append(list, name)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return numbers[a] - numbers[b] })
	return list
}

// keptFile names a file for what somebody prints in this run, in a directory below that of
// the program, of which the oldest files are removed; "" when none is kept.
func (s *session) keptFile(below string, number int, who string) (string, error) {
	if s.Transcripts == "" {
		return "", nil
	}
	dir := filepath.Join(s.Transcripts, s.Program.Name, below)
	err := files.MakeTrusted(dir, 0o700)
	if err == nil {
		err = removeOldest(dir, maxTranscripts-1, maxTranscriptBytes)
	}
	if err != nil {
		return "", fmt.Errorf("keep the transcripts: %w", err)
	}
	return filepath.Join(dir, fmt.Sprintf("%d-%d-%s-%s.txt", s.iteration, number, who, s.id)), nil
}

// transcriptsIn are the transcripts in a directory, the newest first.
func transcriptsIn(dir string) (kept []fs.FileInfo, err error) {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() && transcriptName().MatchString(entry.Name()) {
			kept = append(kept, info)
		}
	}
	slices.SortStableFunc(kept, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	return kept, err
}

// removeOldest leaves at most so many transcripts in a directory, of so many bytes
// together: the newest. Other files stay.
func removeOldest(dir string, most int, bytes int64) error {
	kept, err := transcriptsIn(dir)
	for i, info := range kept {
		if bytes -= info.Size(); err == nil && (i >= most || bytes < 0) {
			err = os.Remove(filepath.Join(dir, info.Name()))
		}
		if errors.Is(err, fs.ErrNotExist) { // another run removed it
			err = nil
		}
	}
	return err
}
