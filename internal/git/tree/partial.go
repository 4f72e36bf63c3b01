package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/git"
)

// complete fetches what a partial clone left at its remote and the tree needs,
// in one go: the control directory knows no remote.
func (t *Tree) complete(ctx context.Context) error {
	promised, err := filepath.Glob(filepath.Join(t.repo.CommonDir, "objects", "pack", "*.promisor"))
	if err != nil || len(promised) == 0 {
		return nil //nolint:nilerr // a path that is no pattern has no such files that could be found
	}
	// Each round may bring directories that name more.
	const most = 100
	for range most {
		missing, err := t.missing(ctx)
		if err != nil || len(missing) == 0 {
			return err
		}
		if err := t.fetch(ctx, missing); err != nil {
			return fmt.Errorf("fetch what this partial clone lacks: %w", err)
		}
	}
	return errors.New("this partial clone still lacks files after fetching them; run git fetch --refetch")
}

// missing lists the objects of the tree that are not here, one a line.
func (t *Tree) missing(ctx context.Context) ([]byte, error) {
	out, err := t.repo.Run(ctx, git.Input{}, "rev-list", "--objects", "--no-object-names", "--missing=print", t.id)
	if err != nil {
		return nil, err
	}
	var list bytes.Buffer
	for line := range strings.Lines(string(out)) {
		if id, found := strings.CutPrefix(line, "?"); found {
			list.WriteString(id)
		}
	}
	return list.Bytes(), nil
}

// fetch asks for objects as git itself does when it misses one.
func (t *Tree) fetch(ctx context.Context, ids []byte) error {
	out, err := t.repo.Run(ctx, git.Input{}, "config", "-z", "--get-regexp", `^remote\..*\.promisor$`)
	if err != nil {
		return err
	}
	key, _, _ := strings.Cut(string(out), "\n")
	remote := strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".promisor")
	in := git.Input{
		Stdin: ids, Transport: true,
		Settings: []git.Setting{{Key: "fetch.negotiationAlgorithm", Value: "noop"}},
	}
	_, err = t.repo.Run(ctx, in, "fetch", remote, "--no-tags", "--no-write-fetch-head",
		"--recurse-submodules=no", "--filter=blob:none", "--stdin")
	return err
}
