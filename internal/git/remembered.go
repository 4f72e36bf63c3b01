package git

import (
	"slices"
	"sync"
)

const (
	// maxLists is how many lists of files are remembered, maxListed the most
	// files of one.
	maxLists, maxListed = 8, 50_000
)

// remembered are lists of files by the id of their tree or commit: an iteration
// asks for the same few again and again.
type remembered struct {
	mu    sync.Mutex
	lists map[string][]TreeEntry
	order []string // the oldest first
}

// list returns a copy of the list of an id, nil when it is not remembered.
func (r *remembered) list(id string) []TreeEntry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lists[id])
}

func (r *remembered) keep(id string, entries []TreeEntry) {
	if len(entries) == 0 || len(entries) > maxListed {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lists == nil {
		r.lists = map[string][]TreeEntry{}
	}
	if _, known := r.lists[id]; !known {
		if len(r.order) == maxLists {
			delete(r.lists, r.order[0])
			r.order = r.order[1:]
		}
		r.order = append(r.order, id)
	}
	r.lists[id] = slices.Clone(entries)
}
