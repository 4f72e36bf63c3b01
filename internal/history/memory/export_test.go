package memory

import (
	"context"

	"github.com/org/autoloop/internal/git"
)

// Rewritten says where the branch breaks the history of a program.
func Rewritten(m *Memory, ctx context.Context, head, name string) ([]string, error) {
	return m.rewritten(ctx, head, name)
}

// Dropped says which commits the branch had on the remote and lost there.
func Dropped(m *Memory, ctx context.Context, head string) ([]string, error) {
	return m.dropped(ctx, head)
}

// HalfMoved is the move that takes the branch of a program back that is somewhere on the
// remote.
func HalfMoved(m *Memory, ctx context.Context, program, ref, there string, current Files) (*git.RefUpdate, error) {
	w := &writing{Memory: m, Update: Update{Program: program}}
	return w.halfMoved(ctx, []stand{{ref: memoryRef}, {ref: ref, there: there}}, current)
}

// Tips are the commits whose objects are packed, and those of others.
func Tips(m *Memory, ctx context.Context) (ours, others []string, err error) {
	return (&writing{Memory: m}).tips(ctx)
}
