package loop

import (
	"context"

	"github.com/org/autoloop/internal/history/memory"
)

type store interface {
	// Update applies a change to the newest records and writes the result, with
	// the move of a branch, in one step. It returns the memory branch's commit.
	Update(ctx context.Context, u memory.Update) (commit string, err error)
}

// draft is the store of a run that writes nothing: changes are applied to a copy
// of the records, and no branch is moved.
type draft struct {
	memory *memory.Memory
	files  *memory.Files // nil until they are read
	found  memory.Files  // as they were read
}

// Update changes the copy.
func (d *draft) Update(ctx context.Context, u memory.Update) (string, error) {
	if d.files == nil {
		files, _, err := d.memory.Read(ctx, u.Program)
		if err != nil {
			return "", err
		}
		d.files, d.found = &files, files
	}
	files, err := u.Apply(*d.files)
	if err == nil {
		d.files = &files
	}
	return "", err
}

// draft lets the run work on a copy of the records.
func (r *run) draft() {
	r.drafted = &draft{memory: r.Memory}
	r.store = r.drafted
}
