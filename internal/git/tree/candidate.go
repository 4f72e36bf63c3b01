package tree

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
)

// Candidate returns the tree object of what the last Scan found, which must be nothing
// that is refused; what happened in the tree since does not count. Only now its objects
// are written to the repository. It can be called once after each Scan.
func (t *Tree) Candidate(ctx context.Context, changes []decision.Change) (string, error) {
	for _, c := range changes {
		if c.Refused != "" {
			return "", fmt.Errorf("%s %s", strconv.Quote(c.Path), c.Refused)
		}
	}
	if t.staged == nil {
		if len(changes) > 0 {
			return "", errors.New("the tree was not scanned")
		}
		return t.id, nil
	}
	if err := t.publish(ctx); err != nil {
		return "", fmt.Errorf("store the candidate: %w", err)
	}
	return t.found, t.unstage()
}

// publish copies the objects of what was found, but for those of the built tree, to the
// repository.
func (t *Tree) publish(ctx context.Context) error {
	in := git.Input{Stdin: []byte(t.found + "\n^" + t.id + "\n")}
	pack, err := t.staged.run(ctx, in, "pack-objects", "--revs", "--stdout", "--quiet", "--window=0")
	if err == nil {
		_, err = t.repo.RunWith(ctx, git.Input{Stdin: pack}, "unpack-objects", "-q")
	}
	return err
}
