package cli

import (
	"io"
	"sync"
)

// heldOutput keeps what is written to it until Release, and passes it on from then: a
// command that does nothing prints only the one line that says why.
type heldOutput struct {
	Out io.Writer

	mu       sync.Mutex
	kept     []byte
	released bool
}

// Write keeps or passes on what is written.
func (h *heldOutput) Write(text []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.released {
		return h.Out.Write(text)
	}
	h.kept = append(h.kept, text...)
	return len(text), nil
}

// Release passes on what was kept.
func (h *heldOutput) Release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.released && len(h.kept) > 0 {
		_, _ = h.Out.Write(h.kept)
	}
	h.kept, h.released = nil, true
}
