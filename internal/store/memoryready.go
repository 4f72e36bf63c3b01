package store

import "context"

// Ready reports what would keep an Update that moves the branch ref from being
// written, such as a work tree in which it is checked out, before any work is
// done for it.
func (m *Memory) Ready(ctx context.Context, ref string) error {
	w := &writing{Memory: m, refs: []string{memoryRef, ref}}
	if err := w.checkCheckouts(ctx); err != nil {
		return err
	}
	_, err := m.stand(ctx, w.refs...)
	return err
}
