package memory

import (
	"context"
)

// Rewritten says where the branch breaks the history of a program.
func Rewritten(ctx context.Context, m *Memory, head, name string) ([]string, error) {
	return m.rewritten(ctx, head, name)
}
