package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/git"
)

// listing is the root of the memory branch, in git's order: four entries for each of
// what may be thousands of programs.
type listing []git.TreeEntry

type stateEntry struct {
	program string
	git.TreeEntry
}

func (m *Memory) list(ctx context.Context, head string) (listing, error) {
	entries, err := m.Repo.LsRoot(ctx, head)
	if err != nil {
		return nil, fmt.Errorf("read the records: %w", err)
	}
	return entries, nil
}

// states are those of all programs, in the order in which git has them.
func (l listing) states() []stateEntry {
	var found []stateEntry
	for _, e := range l {
		if name, is := strings.CutSuffix(e.Path, stateSuffix); is && checkName(name) == nil {
			found = append(found, stateEntry{name, e})
		}
	}
	return found
}

// find is the entry with a path, a file or a directory.
func (l listing) find(path string) (git.TreeEntry, bool) {
	for _, key := range []string{path, path + "/"} {
		if at, found := slices.BinarySearchFunc(l, key, compareEntry); found {
			return l[at], true
		}
	}
	return git.TreeEntry{}, false
}

// compareEntry compares as git orders a tree: a directory as if its name ended in a
// slash.
func compareEntry(e git.TreeEntry, key string) int {
	if rest, within := strings.CutPrefix(key, e.Path); within && e.Mode == git.ModeDirectory {
		return strings.Compare("/", rest)
	}
	return strings.Compare(e.Path, key)
}
