package memory

import "context"

// Rewritten says where the branch breaks the history of a program.
func Rewritten(m *Memory, ctx context.Context, head, name string) ([]string, error) {
	return m.rewritten(ctx, head, name)
}

// Dropped says which commits the branch had on the remote and lost there.
func Dropped(m *Memory, ctx context.Context, head string) ([]string, error) {
	return m.dropped(ctx, head)
}
