package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/program"
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

// Steps compares the files that there are with those that should be, for the programs that
// are found in a directory, "" for the usual one.
func Steps(root, dir string, programs []*program.Program, o Options) ([]Step, error) {
	steps, err := initFiles(root, programs, dir, o)
	for i := range steps {
		if err == nil {
			err = steps[i].compare(root, o.Force)
		}
	}
	if err != nil {
		return nil, err
	}
	if wantsSimple(root, o) && exists(root, pairWorkflow) {
		steps = append(steps, Step{Action: Keep, Name: pairWorkflow, Why: "(nothing calls it any more: delete it)"})
	}
	if len(programs) > 0 {
		steps = append(steps, Step{Action: Keep, Name: programs[0].File, Why: "(there is a program)"})
	}
	return steps, nil
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
