package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/lazyregexp"
)

// keptName is the form of the names of what an application keeps.
var keptName = lazyregexp.New(`^(?:before-[a-z]+-[0-9]+)?$`)

// KeepSkill takes a snapshot of the skill as it is under the first free name of
// purpose-1, purpose-2, …, and returns the name. One of these that is the same
// already is used; none is ever overwritten.
func (w *Workspace) KeepSkill(ctx context.Context, purpose string) (name string, err error) {
	now, err := Scan(ctx, w.Skill)
	if err != nil {
		return "", fmt.Errorf("read the skill: %w", err)
	}
	for n := 1; ; n++ {
		name = fmt.Sprintf("%s-%d", purpose, n)
		place := filepath.Join(w.Dir, name)
		if _, err := os.Lstat(place); errors.Is(err, fs.ErrNotExist) {
			taken, err := Take(ctx, w.Skill, place)
			if err == nil && taken.Tree.Digest() != now.Digest() {
				err = errors.New("the skill changed while it was copied; run this again")
			}
			return name, err
		}
		if kept, err := Verify(ctx, place); err == nil && kept.Digest() == now.Digest() {
			return name, nil
		}
	}
}

// Undone is the snapshot that an undo puts back: what the skill was before its
// last application, when that was a merge, else v0.
func (w *Workspace) Undone() (name, dir string) {
	if w.Applied != nil && w.Applied.Before != "" {
		return w.Applied.Before, filepath.Join(w.Dir, w.Applied.Before)
	}
	return "v0", w.Version(0)
}
