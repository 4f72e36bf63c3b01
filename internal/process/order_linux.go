package process

import (
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// order is what a supervisor is told over its line: first where it runs its
// command, and once nobody can look into it the whole. With a view it is told where twice:
// the supervisor outside, and the one that it starts inside. Arguments and environment
// arrive byte for byte and appear in no process list twice. A byte after them ends the
// command, and the end of the line means that nobody waits for it any more.
type order struct {
	// View is nil for the system as it is.
	View *view
	// Bubblewrap is bwrap's path when it makes the view; "" when we do.
	Bubblewrap string
	// Groups is in how many hierarchies the command has a control group.
	Groups int

	Path, Dir string
	Args, Env []string
	Grace     time.Duration
	Bound     limits
}

// The parts of a layer's scratch directory.
const (
	upperDir = "upper"
	workDir  = "work"
)

// order makes the view of a command, and the directories for its layers.
func (r *Runner) order(spec *Spec, path string) (order, error) {
	o := order{Path: path, Dir: spec.Dir, Args: spec.Args, Env: spec.Env, Grace: r.grace(), Bound: r.limits()}
	if r.Isolation == nil {
		return o, nil
	}
	if err := makeDirs(scratch(spec.Env)); err != nil { // First: the view hides what is there.
		return o, err
	}
	seen := r.Isolation.viewOf(spec)
	o.View, o.Env, o.Bubblewrap = &seen, replaced(spec.Env, seen.Moved), r.Isolation.Bubblewrap
	var layers []string
	for _, m := range seen.Mounts {
		if m.Scratch != "" {
			layers = append(layers, filepath.Join(m.Scratch, upperDir), filepath.Join(m.Scratch, workDir))
		}
	}
	return o, makeDirs(layers...)
}

func makeDirs(dirs ...string) error {
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("prepare the layers over toolchain caches: %w", err)
		}
	}
	return nil
}

// tell writes all that is told.
func (o order) tell(to io.Writer) error {
	where := o
	where.Args, where.Env = nil, nil
	told := []order{where, o}
	if o.View != nil {
		told = []order{where, where, o}
	}
	for _, part := range told {
		if err := gob.NewEncoder(to).Encode(part); err != nil {
			return err
		}
	}
	return nil
}

// exactly reads no byte beyond what is asked for.
type exactly struct{ io.Reader }

// ReadByte reads one byte.
func (e exactly) ReadByte() (byte, error) {
	var one [1]byte
	_, err := io.ReadFull(e.Reader, one[:])
	return one[0], err
}

// readOrder reads one part, and nothing beyond it.
func readOrder(from io.Reader) (o order, err error) {
	if err = gob.NewDecoder(exactly{from}).Decode(&o); err != nil {
		err = fmt.Errorf("read the order: %w", err)
	}
	return o, err
}
