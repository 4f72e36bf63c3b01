// Package live is what a run says while it goes on: a
// small file in the repository's git directory, which nothing but
// Autoloop reads.
package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/render"
)

// maxStatus is the size in bytes beyond which a status is not read.
const maxStatus = 16 << 10

// Status is what a run is at: on the terminal and on the page.
type Status struct {
	Program   string `json:"program"`
	Iteration int    `json:"iteration"`
	// Stage is the present step: sync, baseline, propose, measure, ci, record. Detail says
	// more, such as a metric.
	Stage  string `json:"stage"`
	Detail string `json:"detail,omitempty"`
	// Since is when the step began.
	Since time.Time `json:"since"`
	// Minor is one of many steps alike, which a log may leave out.
	Minor bool `json:"-"`
}

// String is what the run is at.
func (s Status) String() string {
	text := fmt.Sprintf("%s #%d %s", s.Program, s.Iteration, s.Stage)
	if s.Detail != "" {
		text += ": " + render.Rounded(s.Detail)[0]
	}
	return text
}

// At is what the run is at, and for how long.
func (s Status) At(now time.Time) string {
	return fmt.Sprintf("%s (%d s)", s, max(0, int(now.Sub(s.Since).Seconds())))
}

// Board is where runs of a repository say what they are at.
type Board struct{ dir string }

// New returns the board of the repository with this git directory.
func New(commonDir string) Board { return Board{filepath.Join(commonDir, "autoloop", "live")} }

// Run is a run that is on the board until Close.
type Run struct {
	dir    string
	unlock func()
}

const statusFile = "status.json"

// lookTime outlasts those who look at the board, who hold a run's place meanwhile.
const lookTime = 200 * time.Millisecond

// Begin puts a run on the board. Of several runs of a program at once only the
// first is; the others get a nil Run, whose methods do nothing.
func (b Board) Begin(program string) (*Run, error) {
	dir := filepath.Join(b.dir, program)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	unlock, held, err := files.TryLock(dir, lookTime)
	if err != nil || held {
		return nil, err
	}
	return &Run{dir, unlock}, nil
}

// Tell says what the run is at. That it cannot be written is nothing to stop
// for: it is only shown.
func (r *Run) Tell(s Status) {
	if r == nil {
		return
	}
	if text, err := json.Marshal(s); err == nil {
		_ = os.WriteFile(filepath.Join(r.dir, statusFile+".new"), text, 0o600)
		_ = os.Rename(filepath.Join(r.dir, statusFile+".new"), filepath.Join(r.dir, statusFile))
	}
}

// Close takes the run off the board.
func (r *Run) Close() {
	if r == nil {
		return
	}
	_ = os.Remove(filepath.Join(r.dir, statusFile))
	r.unlock()
}

// Running lists what the runs that go on are at, by program.
func (b Board) Running() ([]Status, error) {
	entries, err := os.ReadDir(b.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var list []Status
	for _, entry := range entries {
		if s, running := b.read(entry.Name()); running {
			list = append(list, s)
		}
	}
	return list, nil
}

// read reads one status. A run that was killed left its file but not its lock.
func (b Board) read(program string) (s Status, running bool) {
	dir := filepath.Join(b.dir, program)
	if held, err := files.Held(dir); err != nil || !held {
		return Status{}, false
	}
	text, err := files.ReadSmall(filepath.Join(dir, statusFile), maxStatus)
	if err != nil || json.Unmarshal(text, &s) != nil {
		s = Status{}
	}
	s.Program = program
	return s, true
}
