package sandbox

import (
	"context"
	"errors"
	"os"
	"path"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/files"
)

const (
	// maxEntries and maxBytes bound a directory that is copied.
	maxEntries = 100_000
	maxBytes   = 2 << 30
	// maxDepth bounds how deep directories are followed.
	maxDepth = 64
)

// scanner reads a directory but for git directories; where names it in errors.
func scanner(root *os.Root, where string) *files.Scanner {
	return &files.Scanner{
		Root: root, MaxEntries: maxEntries, MaxBytes: maxBytes, MaxDepth: maxDepth,
		Skip: func(name string) bool { return decision.DotGit(path.Base(name)) },
		Fault: func(name string, err error) error {
			if limit, is := errors.AsType[*files.LimitError](err); is {
				return &PathError{Where: where, Path: name, Reason: limit.Reason}
			}
			return &PathError{Where: where, Path: name, Reason: "cannot be read: " + files.Cause(err).Error()}
		},
	}
}

// read lists what a scanner finds; a special file is refused.
func read(ctx context.Context, s *files.Scanner, where string) (Manifest, error) {
	found, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range found {
		if e.IsSpecial() {
			return nil, &PathError{Where: where, Path: e.Path, Reason: "is neither a file nor a directory nor a link"}
		}
	}
	return found, s.Hash(ctx, found)
}

// readLeft reads what an agent left as it is: what cannot be copied or read is
// an entry without a digest, and too much is cut off.
func readLeft(ctx context.Context, root *os.Root) (Manifest, error) {
	s := scanner(root, "")
	s.Fault = func(string, error) error { return nil }
	return s.Read(ctx)
}
