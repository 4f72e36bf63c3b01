package history

import "hash/fnv"

// filter says of most texts that were not put into it that they were not, and of none
// that was: a Bloom filter of a fixed size. Beyond some twenty thousand texts it is
// wrong more often, which costs time alone.
type filter []byte

const (
	filterBytes  = 24 << 10
	filterProbes = 6
)

// places are the bits of a text.
func places(text string) (at [filterProbes]uint32) {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(text))
	one, two := uint32(sum.Sum64()), uint32(sum.Sum64()>>32)|1
	for i := range at {
		at[i] = (one + uint32(i)*two) % (filterBytes * 8)
	}
	return at
}

// with puts a text in; "" is left out.
func (f filter) with(text string) filter {
	if text == "" {
		return f
	}
	if len(f) != filterBytes {
		f = make(filter, filterBytes)
	}
	for _, at := range places(text) {
		f[at/8] |= 1 << (at % 8)
	}
	return f
}

// may reports whether a text may have been put in.
func (f filter) may(text string) bool {
	if len(f) != filterBytes {
		return len(f) != 0
	}
	for _, at := range places(text) {
		if f[at/8]&(1<<(at%8)) == 0 {
			return false
		}
	}
	return true
}

// MayHave reports whether a change with this digest may have been decided in a sealed
// segment. No is certain.
func (c *Checkpoint) MayHave(digest string) bool { return c.tried.may(digest) }

// digestOf is the digest of the change that an event decides about, "" of any other.
func digestOf(e Event) string {
	switch e := e.(type) {
	case *Decided:
		return e.Digest
	case *Proposed:
		return e.Digest
	default:
		return ""
	}
}
