package tree

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
)

// Candidate returns the tree object of what the tree was built from with the
// changes applied, as Scan found them; what happened in the tree since does not
// count. Only now their blobs are written to the repository. It can be called
// once after each Scan, with all its changes or some of them.
func (t *Tree) Candidate(ctx context.Context, changes []decision.Change) (string, error) {
	files := map[string]*git.File{}
	var blobs strings.Builder
	for _, c := range changes {
		switch {
		case c.Refused != "":
			return "", fmt.Errorf("%s %s", strconv.Quote(c.Path), c.Refused)
		case c.Kind == decision.Deleted:
			files[c.Path] = nil
		default:
			files[c.Path] = &git.File{Mode: c.NewMode, ID: c.NewBlob}
			if t.entries[c.Path].ID != c.NewBlob {
				blobs.WriteString(c.NewBlob + "\n")
			}
		}
	}
	if err := t.publish(ctx, blobs.String()); err != nil {
		return "", fmt.Errorf("store the candidate: %w", err)
	}
	return t.repo.WriteFiles(ctx, t.id, files)
}

// publish moves blobs from the control directory to the repository.
func (t *Tree) publish(ctx context.Context, ids string) error {
	if t.staged == nil && ids != "" {
		return errors.New("the tree was not scanned")
	}
	if ids != "" {
		pack, err := t.staged.run(ctx, git.Input{Stdin: []byte(ids)}, "pack-objects", "--stdout", "--quiet", "--window=0")
		if err != nil {
			return err
		}
		if _, err := t.repo.Run(ctx, git.Input{Stdin: pack}, "unpack-objects", "-q"); err != nil {
			return err
		}
	}
	return t.unstage()
}
