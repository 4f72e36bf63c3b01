package loop

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/org/autoloop/internal/files"
)

// How much is kept of a program's transcripts. What one agent printed is bounded by
// its adapter.
const (
	maxTranscripts     = 50
	maxTranscriptBytes = 100 << 20
)

// transcriptName matches the names of transcripts: iteration, proposal, agent, run.
var transcriptName = regexp.MustCompile(`^[0-9]+-[0-9]+-[a-z-]+-[0-9A-Za-z-]+\.txt$`)

// transcript names the file for what an agent prints, after the oldest of those
// that are too many were removed; "" when none is kept.
func (r *team) transcript(a *attempt) (string, error) {
	if r.transcripts == "" {
		return "", nil
	}
	dir := filepath.Join(r.transcripts, r.program.Name)
	if err := files.MakeTrusted(dir, 0o700); err != nil {
		return "", fmt.Errorf("keep the transcripts: %w", err)
	}
	if err := removeOldest(dir, maxTranscripts-1, maxTranscriptBytes); err != nil {
		return "", fmt.Errorf("keep the transcripts: %w", err)
	}
	return filepath.Join(dir, fmt.Sprintf("%d-%d-%s-%s.txt", r.iteration, a.number, a.agent.Name(), r.id)), nil
}

// removeOldest leaves at most so many transcripts in a directory, of so many bytes
// together: the newest. Other files stay.
func removeOldest(dir string, most int, bytes int64) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var kept []fs.FileInfo
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() && transcriptName.MatchString(entry.Name()) {
			kept = append(kept, info)
		}
	}
	slices.SortStableFunc(kept, func(a, b fs.FileInfo) int { return cmp.Compare(b.ModTime().UnixNano(), a.ModTime().UnixNano()) })
	for i, info := range kept {
		if bytes -= info.Size(); i < most && bytes >= 0 {
			continue
		}
		if err := os.Remove(filepath.Join(dir, info.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
