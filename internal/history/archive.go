package history

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Archived is the setting that seals an Archive: the SHA-256 of its file.
const Archived = "archived"

// Archive stands for the oldest segments of a ledger, which were moved to files, and
// has what they add up to. It cannot be computed again without these files.
type Archive struct {
	// Files are in the order of the segments.
	Files []ArchiveFile
	// Sum is what all segments that were moved add up to.
	Sum *Checkpoint
}

// ArchiveFile is a file with segments, one after the other.
type ArchiveFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	// First and Last are numbers of segments.
	First int `json:"first_segment"`
	Last  int `json:"last_segment"`
	// LastIteration is the last that was decided in it, Until when that was.
	LastIteration int       `json:"last_iteration"`
	Until         time.Time `json:"until"`
}

type storedArchive struct {
	Files []ArchiveFile   `json:"files"`
	Sum   json.RawMessage `json:"checkpoint"`
}

// Encode renders the archive as the file that stays in place of the segments.
func (a *Archive) Encode() ([]byte, error) {
	sum, err := a.Sum.Encode()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(storedArchive{a.Files, sum})
	if err != nil {
		return nil, fmt.Errorf("render the archive: %w", err)
	}
	return append(text, '\n'), nil
}

// DecodeArchive reads what Encode wrote.
func DecodeArchive(text []byte) (*Archive, error) {
	var s storedArchive
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("read the archive: %w", err)
	}
	sum, err := decodeCheckpoint(s.Sum, firstArchived)
	if err != nil {
		return nil, fmt.Errorf("read the archive: %w", err)
	}
	if sum.Segments < 0 || sum.Lines < 0 {
		return nil, fmt.Errorf("read the archive: it stands for %d segments with %d lines", sum.Segments, sum.Lines)
	}
	return &Archive{s.Files, sum}, nil
}

// Digest is what the setting Archived says of an archive's file.
func Digest(text []byte) string { return digest(text) }

// Iteration is the last decided iteration of what is sealed, Until when it was.
func (c *Checkpoint) Iteration() (last int, until time.Time) {
	if n := len(c.summary.Attempts); n > 0 {
		until = c.summary.Attempts[n-1].Time
	}
	return c.summary.Iteration, until
}

// Measured is the iteration whose candidates were measured last, 0 before the first.
func (c *Checkpoint) Measured() int {
	if last := len(c.standing.measured) - 1; last >= 0 {
		return c.standing.measured[last].Iteration
	}
	return 0
}

// Summary is what the sealed segments add up to, as a value of its own.
func (c *Checkpoint) Summary() Summary { return c.clone().summary }

// Last is the last iteration that is archived, 0 for none, and the files. The archive
// may be nil.
func (a *Archive) Last() (last int, names string) {
	if a == nil {
		return 0, ""
	}
	var list []string
	for _, file := range a.Files {
		last = max(last, file.LastIteration)
		list = append(list, file.Name)
	}
	return last, strings.Join(list, ", ")
}

// FileOf is the name of the file that has an iteration, "" for none.
func (a *Archive) FileOf(iteration int) string {
	for _, file := range a.Files {
		if iteration <= file.LastIteration {
			return file.Name
		}
	}
	return ""
}
