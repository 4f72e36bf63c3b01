package memory

import (
	"context"

	"github.com/org/autoloop/internal/history"
)

// Rewritten says where the branch breaks the history of a program.
func Rewritten(ctx context.Context, m *Memory, head, name string, log *history.Log) ([]string, error) {
	return m.rewritten(ctx, head, name, log)
}
