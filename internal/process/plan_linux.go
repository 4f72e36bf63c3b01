package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// plan is where a supervisor runs its command: what it is told before its
// order, as JSON in a frame of its own. With a view it is told twice: once the
// supervisor outside, and once the one that it starts inside.
type plan struct {
	// View is nil for the system as it is.
	View *view `json:"view,omitempty"`
	// Bubblewrap is bwrap's path when it makes the view; "" when we do.
	Bubblewrap string `json:"bwrap,omitempty"`
	// Group is the control group of the command; empty for none.
	Group groupPlaces `json:"group"`
}

// plan makes the view of a command, and the directories for its layers.
func (r *Runner) plan(spec *Spec) (plan, error) {
	if r.Isolation == nil {
		return plan{}, nil
	}
	if dir := scratch(spec.Env); dir != "" { // First: the view hides what is there.
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return plan{}, fmt.Errorf("prepare the layers over toolchain caches: %w", err)
		}
	}
	made := r.Isolation.viewOf(spec)
	spec.Env = replaced(spec.Env, made.Moved)
	for _, m := range made.Mounts {
		if m.Scratch == "" {
			continue
		}
		for _, part := range []string{upperDir, workDir} {
			if err := os.MkdirAll(filepath.Join(m.Scratch, part), 0o700); err != nil {
				return plan{}, fmt.Errorf("prepare the layers over toolchain caches: %w", err)
			}
		}
	}
	where := plan{View: &made}
	if r.Isolation.Method == Bubblewrap {
		where.Bubblewrap = r.Isolation.Program
	}
	return where, nil
}

// The parts of a layer's scratch directory.
const (
	upperDir = "upper"
	workDir  = "work"
)

func (p plan) encode() []byte {
	text, err := json.Marshal(p)
	if err != nil {
		return nil // It has no type that JSON refuses; the supervisor says that it got nothing.
	}
	if p.View == nil {
		return frame(text)
	}
	return append(frame(text), frame(text)...)
}

func readPlan(from io.Reader) (plan, error) {
	text, err := readFrame(from)
	if err != nil {
		return plan{}, fmt.Errorf("read the plan: %w", err)
	}
	var where plan
	if err := json.Unmarshal(text, &where); err != nil {
		return plan{}, fmt.Errorf("read the plan: %w", err)
	}
	return where, nil
}

// fault is a supervisor's fault as an error; where bwrap failed, with what it
// said itself.
func (r report) fault(where plan, result Result) error {
	if words := lastLine(result.Stderr); words != "" &&
		(where.Bubblewrap != "" || strings.HasPrefix(words, supervisorName+": ")) {
		return errors.New(r.Fault + ": " + words)
	}
	return errors.New(r.Fault)
}
