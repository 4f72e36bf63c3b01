package process

type tail struct {
	ring    []byte
	cap     int
	next    int // where the next byte goes once the ring is full
	dropped bool
}

func newTail(capacity int64) *tail { return &tail{cap: int(capacity)} }

// Write keeps the end of p; it never fails.
func (t *tail) Write(p []byte) (int, error) {
	written := len(p)
	if len(p) >= t.cap {
		t.dropped = t.dropped || len(p) > t.cap || len(t.ring) > 0
		t.ring = append(t.ring[:0], p[len(p)-t.cap:]...)
		t.next = 0
		return written, nil
	}
	if room := t.cap - len(t.ring); room > 0 {
		fits := min(room, len(p))
		t.ring = append(t.ring, p[:fits]...)
		p = p[fits:]
	}
	for len(p) > 0 {
		t.dropped = true
		copied := copy(t.ring[t.next:], p)
		t.next = (t.next + copied) % t.cap
		p = p[copied:]
	}
	return written, nil
}

// Bytes returns what was kept, in order.
func (t *tail) Bytes() []byte {
	if t.next == 0 {
		return t.ring
	}
	return append(append(make([]byte, 0, len(t.ring)), t.ring[t.next:]...), t.ring[:t.next]...)
}
