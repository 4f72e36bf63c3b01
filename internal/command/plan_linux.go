package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// plan is where a supervisor runs its command: what it is told before its
// order, as JSON in a frame of its own. With a view it is told twice: once the
// supervisor outside, and once the one that it starts inside.
type plan struct {
	// View is nil for the system as it is.
	View *view `json:"view,omitempty"`
	// Bubblewrap is bwrap's path when it makes the view; "" when we do.
	Bubblewrap string `json:"bwrap,omitempty"`
}

// plan makes the view of a command, and the directories for its layers.
func (r *Runner) plan(spec *Spec) (plan, error) {
	if r.Isolation == nil {
		return plan{}, nil
	}
	made := r.Isolation.viewOf(spec)
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

// clear removes what the command wrote to caches, unless the next one needs it.
func (p plan) clear(spec *Spec) {
	if p.View == nil || spec.KeepCaches || scratch(spec.Env) == "" {
		return
	}
	removeAll(scratch(spec.Env))
}

// removeAll removes a directory of ours although directories in it may be
// closed; what cannot be removed is left to whoever clears up later.
func removeAll(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // A directory needs x to be removed.
			if err != nil {
				return nil //nolint:nilerr // It is read again below, now that it is open.
			}
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}

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
	if words := lastLine(result.Stderr); where.Bubblewrap != "" && words != "" {
		return errors.New(r.Fault + ": " + words)
	}
	return errors.New(r.Fault)
}
