package schedule

import "hash/fnv"

// Shard is one of several runs that share the programs by their names: every
// program is in exactly one of them. The zero value has all programs.
type Shard struct {
	// Index counts from 1 to Of.
	Index, Of int
}

// Has says whether a program of this name is in the shard.
func (s Shard) Has(name string) bool {
	if s.Of <= 1 {
		return true
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name)) // never fails
	return hash.Sum64()%uint64(s.Of) == uint64(s.Index-1)
}
