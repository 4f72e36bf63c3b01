package loop

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// maxTranscripts is how many of a program are kept.
const maxTranscripts = 50

// transcript names the file for what an agent prints, after the oldest of those
// that are too many were removed; "" when none is kept.
func (r *team) transcript(a *attempt) (string, error) {
	if r.transcripts == "" {
		return "", nil
	}
	dir := filepath.Join(r.transcripts, r.program.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("keep the transcripts: %w", err)
	}
	if err := removeOldest(dir, maxTranscripts-1); err != nil {
		return "", fmt.Errorf("keep the transcripts: %w", err)
	}
	return filepath.Join(dir, fmt.Sprintf("%d-%d-%s-%s.txt", r.iteration, a.number, a.agent.Name(), r.id)), nil
}

// removeOldest leaves at most keep files in a directory, the newest.
func removeOldest(dir string, keep int) error {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= keep {
		return err
	}
	written := func(entry os.DirEntry) time.Time {
		info, err := entry.Info()
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int { return cmp.Compare(written(a).UnixNano(), written(b).UnixNano()) })
	for _, entry := range entries[:len(entries)-keep] {
		if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}
