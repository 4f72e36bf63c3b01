package process

// tail keeps the last bytes that are written to it: up to twice as many in between, so that
// they are seldom moved.
type tail struct {
	kept []byte
	cap  int
	cut  bool
}

func newTail(capacity int64) *tail { return &tail{cap: int(capacity)} }

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	if t.kept = append(t.kept, p...); len(t.kept) > 2*t.cap {
		t.kept = append(t.kept[:0], t.Bytes()...)
	}
	return len(p), nil
}

// Bytes returns what was kept, and notes whether there was more.
func (t *tail) Bytes() []byte {
	over := max(len(t.kept)-t.cap, 0)
	t.cut = t.cut || over > 0
	return t.kept[over:]
}
