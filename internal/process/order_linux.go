package process

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// order is what a supervisor is told over its control pipe: first where it runs its
// command, and once nobody can look into it the whole. With a view it is told where twice:
// the supervisor outside, and the one that it starts inside. Arguments and environment
// arrive byte for byte and appear in no process list twice. After them the pipe carries
// terminateByte, and its end means that nobody waits for the command any more.
type order struct {
	// View is nil for the system as it is.
	View *view
	// Bubblewrap is bwrap's path when it makes the view; "" when we do.
	Bubblewrap string
	// Group is the control group of the command; empty for none.
	Group groupPlaces

	Path, Dir string
	Args, Env []string
	Grace     time.Duration
	Bound     limits
}

const terminateByte = 't'

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
	o.View, o.Env = &seen, replaced(spec.Env, seen.Moved)
	if r.Isolation.Method == Bubblewrap {
		o.Bubblewrap = r.Isolation.Program
	}
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

// encode is all that is told, each part with its length before it.
func (o order) encode() []byte {
	where := o
	where.Args, where.Env = nil, nil
	told := []order{where, o}
	if o.View != nil {
		told = []order{where, where, o}
	}
	var frames []byte
	for _, part := range told {
		var body bytes.Buffer
		_ = gob.NewEncoder(&body).Encode(part) // Of what is refused the supervisor says that it got nothing.
		frames = append(binary.BigEndian.AppendUint32(frames, uint32(body.Len())), body.Bytes()...)
	}
	return frames
}

// readOrder reads an order, and nothing beyond it.
func readOrder(from io.Reader) (o order, err error) {
	var length uint32
	if err = binary.Read(from, binary.BigEndian, &length); err == nil {
		err = gob.NewDecoder(io.LimitReader(from, int64(length))).Decode(&o)
	}
	if err != nil {
		return o, fmt.Errorf("read the order: %w", err)
	}
	return o, nil
}

// report is what a supervisor says at the end, as JSON on its status pipe.
type report struct {
	// Fault says why the command could not be started; NoFile that the program
	// or its interpreter does not exist.
	Fault  string `json:"fault,omitempty"`
	NoFile bool   `json:"no_file,omitempty"`
	Exit   int    `json:"exit"`
	Signal string `json:"signal,omitempty"`
	// Ordered says that the command was still running when it was told to end.
	Ordered bool `json:"ordered,omitempty"`
	// Exceeded says which bound it was ended for.
	Exceeded string `json:"exceeded,omitempty"`
	Killed   int    `json:"killed"`
	Left     int    `json:"left"`
}

// fault is a supervisor's fault as an error; where bwrap failed, with what it
// said itself.
func (r report) fault(o order, result Result) error {
	if words := lastLine(result.Stderr); words != "" &&
		(o.Bubblewrap != "" || strings.HasPrefix(words, supervisorName+": ")) {
		return errors.New(r.Fault + ": " + words)
	}
	return errors.New(r.Fault)
}
