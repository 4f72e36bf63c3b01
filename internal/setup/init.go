package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/program/checkout"
)

// Options are the wishes of `iterate init`.
type Options struct {
	// Force replaces also what was edited.
	Force bool
	// Action is what `uses:` names, "" for what is there or the source of Origin.
	Action string
	Origin Origin
	// Pages asks for the workflow that puts the page on GitHub Pages; one that is
	// there stays.
	Pages bool
	// Simple asks for one job, or for two when it is false; nil keeps what there is.
	Simple *bool
}

// Steps compares the files that there are with those that should be. Lacks says that
// there is no program yet.
func Steps(root, programs string, o Options) (steps []Step, lacks bool, err error) {
	source := checkout.Programs{Root: root, Dir: programs}
	var found []*program.Program
	if programs == "" || exists(source.Directory(), ".") { // one that is named is made
		if found, err = source.Load(false); err != nil {
			return nil, false, misuse.New(err)
		}
	}
	if steps, err = initFiles(root, found, programs, o); err != nil {
		return nil, false, err
	}
	for i := range steps {
		if err := steps[i].compare(root, o.Force); err != nil {
			return nil, false, err
		}
	}
	if wantsSimple(root, o) && exists(root, pairWorkflow) {
		steps = append(steps, Step{Action: Keep, Name: pairWorkflow, Why: "(nothing calls it any more: delete it)"})
	}
	if len(found) > 0 {
		steps = append(steps, Step{Action: Keep, Name: found[0].File, Why: "(there is a program)"})
	}
	return steps, len(found) == 0, nil
}

func exists(root, name string) bool {
	_, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil
}

// compare decides what happens to one file of ours.
func (s *Step) compare(root string, force bool) error {
	if err := insideOnly(root, s.Name); err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(s.Name)))
	now := strings.ReplaceAll(string(data), "\r\n", "\n")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.Action = Create
	case err != nil:
		return err
	case now == s.Text:
		s.Action, s.Why = Keep, "(up to date)"
	case force || isSealed(now) || strings.HasPrefix(s.Text, now) && now != "":
		s.Action = Update
	default:
		s.Action, s.Why = Keep, "(edited, or not written by iterate init; --force replaces it)"
	}
	return nil
}

// insideOnly refuses a path with a link in it, which could lead out of the
// repository.
func insideOnly(root, name string) error {
	at := root
	for part := range strings.SplitSeq(name, "/") {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link, and is not written through: replace it by what it points to", at)
		}
	}
	return nil
}
