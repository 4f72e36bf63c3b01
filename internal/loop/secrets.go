package loop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/process"
)

func (a *attempt) mask() {
	reply := &a.reply
	reply.Summary = a.masker.OneLine(reply.Summary, agent.MaxSummary)
	reply.Model = a.masker.String(reply.Model)
	for _, failure := range []*agent.Failure{reply.Failure, reply.Idle} {
		if failure != nil {
			failure.Message = a.masker.String(failure.Message)
		}
	}
}

// leaks says which changed files have a secret of this process or of the agent
// in them, or in their names, that the incumbent's do not have: a branch is no
// place for one. One that was there before does not open a file to others.
func (r *team) leaks(ctx context.Context, at position, dir string, masker process.Masker, changes []decision.Change) ([]decision.Reason, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the tree: %w", err)
	}
	defer func() { _ = root.Close() }()
	var reasons []decision.Reason
	for _, c := range changes {
		if c.Kind == decision.Deleted {
			continue
		}
		text, err := readChanged(root, c.Path)
		if err != nil {
			return nil, err
		}
		text = named(append(text, "\n"+c.LinkTarget...), c.Path)
		if !masker.Leaks(text) {
			continue
		}
		before, err := contentBefore(ctx, r.repo, at.Head, c.Path)
		if err != nil {
			return nil, err
		}
		if masker.LeaksMore(text, before) {
			reasons = append(reasons, decision.Reason{Kind: decision.HasSecret, Path: masker.String(c.Path)})
		}
	}
	return reasons, nil
}

// leaksSecrets says whether changed files of a bundle have a secret of this process in
// them, or in their names, that the files before do not have. The patch itself
// does not tell: a binary change is packed.
func (r *verifier) leaksSecrets(ctx context.Context, before string, changes []decision.Change) (bool, error) {
	changes = slices.DeleteFunc(slices.Clone(changes), func(c decision.Change) bool { return c.Kind == decision.Deleted })
	ids := make([]string, len(changes))
	for i, c := range changes {
		ids[i] = c.NewBlob
	}
	brought, err := r.repo.Cat(ctx, ids...)
	if err != nil {
		return false, err
	}
	for i, c := range changes {
		text := named(bytes.Clone(brought[i].Data), c.Path)
		if !r.masker.Leaks(text) {
			continue
		}
		was, err := contentBefore(ctx, r.repo, before, c.Path)
		if err != nil || r.masker.LeaksMore(text, was) {
			return true, err
		}
	}
	return false, nil
}

// contentBefore is the content of a file in a commit, and its name; nil of one that is
// not there.
func contentBefore(ctx context.Context, repo *git.Repo, commit, path string) ([]byte, error) {
	found, err := repo.Cat(ctx, commit+":"+path)
	if err != nil || found[0].Missing() {
		return nil, err
	}
	return named(bytes.Clone(found[0].Data), path), nil
}

// named is a content, which is appended to, with its name.
func named(text []byte, path string) []byte { return append(text, "\n"+path...) }

// readChanged returns a regular file of a tree, nothing of what is another.
func readChanged(root *os.Root, path string) ([]byte, error) {
	name := filepath.FromSlash(path)
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at a changed file: %w", err)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read a changed file: %w", err)
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, maxFile))
}
