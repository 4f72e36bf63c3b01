package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Ref is a ref and what it points to. A symbolic ref has its target in Symref.
type Ref struct{ Name, ID, Symref string }

// Resolve finds the commit that a revision stands for; ok is false when there
// is none.
func (r *Repo) Resolve(ctx context.Context, rev string) (id string, ok bool, err error) {
	if rev == "" || strings.ContainsAny(rev, "\x00\n") {
		return "", false, nil
	}
	id, err = r.line(ctx, Input{}, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	var failed *Error
	if errors.As(err, &failed) && failed.ExitCode == 1 {
		return "", false, nil
	}
	return id, err == nil, err
}

// Head is the commit checked out; ErrNoCommits when there is none yet.
func (r *Repo) Head(ctx context.Context) (string, error) {
	id, ok, err := r.Resolve(ctx, "HEAD")
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", r.Root, ErrNoCommits)
	}
	return id, err
}

// CurrentBranch is the full name of the ref that HEAD stands on, also when
// that has no commit yet; "" when HEAD is detached.
func (r *Repo) CurrentBranch(ctx context.Context) (string, error) {
	ref, err := r.line(ctx, Input{}, "symbolic-ref", "--quiet", "HEAD")
	var failed *Error
	if errors.As(err, &failed) && failed.ExitCode == 1 {
		return "", nil
	}
	return ref, err
}

// ListRefs lists the refs that are, or are below, one of the given names
// ("refs/heads/autoloop"); without names all of them.
func (r *Repo) ListRefs(ctx context.Context, under ...string) ([]Ref, error) {
	args := []string{"for-each-ref", "--format=%(objectname) %(refname) %(symref)"}
	out, err := r.Run(ctx, Input{}, append(args, under...)...)
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(fields) != 3 {
			return nil, fmt.Errorf("list refs: git for-each-ref printed %.100q", line)
		}
		refs = append(refs, Ref{ID: fields[0], Name: fields[1], Symref: fields[2]})
	}
	return refs, nil
}

// RefLog returns the values that the ref had by its log, newest first; nil when
// there is no log, or no ref to it.
func (r *Repo) RefLog(ctx context.Context, ref string) ([]string, error) {
	out, err := r.Run(ctx, Input{}, "log", "--walk-reflogs", "--format=%H", "--end-of-options", ref, "--")
	var failed *Error
	if errors.As(err, &failed) {
		return nil, nil
	}
	return strings.Fields(string(out)), err
}
