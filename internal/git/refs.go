package git

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Ref is a ref and what it points to. A symbolic ref has its target in Symref, a branch that
// is checked out the path of that work tree in WorkTree.
type Ref struct{ Name, ID, Symref, WorkTree string }

// Resolve finds the commit that a revision stands for; ok is false for an
// unknown one.
func (r *Repo) Resolve(ctx context.Context, rev string) (id string, ok bool, err error) {
	if rev == "" || strings.ContainsAny(rev, "\x00\n") {
		return "", false, nil
	}
	return r.peel(ctx, rev, "commit")
}

// TreeOf finds the tree of a commit or tree; ok is false for an unknown one.
func (r *Repo) TreeOf(ctx context.Context, rev string) (id string, ok bool, err error) {
	return r.peel(ctx, rev, "tree")
}

// peel finds what a name stands for, of one kind.
func (r *Repo) peel(ctx context.Context, rev, kind string) (id string, ok bool, err error) {
	name := rev + "^{" + kind + "}"
	return r.found(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
}

// found runs a command that prints one line; ok is false where it finds nothing to print and ends with 1.
func (r *Repo) found(ctx context.Context, args ...string) (text string, ok bool, err error) {
	text, err = line(r.Run(ctx, args...))
	if SaysNo(err) {
		return "", false, nil
	}
	return text, err == nil, err
}

// Head is the commit checked out; there is an error before the first one.
func (r *Repo) Head(ctx context.Context) (string, error) {
	id, ok, err := r.Resolve(ctx, "HEAD")
	if err == nil && !ok {
		err = fmt.Errorf("%s: the repository has no commit yet; make the first one", r.Root)
	}
	return id, err
}

// CurrentBranch is the full name of the ref that HEAD stands on, also when
// that has no commit yet; "" when HEAD is detached.
func (r *Repo) CurrentBranch(ctx context.Context) (string, error) {
	ref, _, err := r.found(ctx, "symbolic-ref", "--quiet", "HEAD")
	return ref, err
}

// ListRefs lists the refs that are, or are below, one of the given names
// ("refs/heads/autoloop"); without names all of them. Work trees whose directory is gone do
// not count.
func (r *Repo) ListRefs(ctx context.Context, under ...string) ([]Ref, error) {
	args := []string{"for-each-ref", "--format=%(refname)%00%(objectname)%00%(symref)%00%(worktreepath)%00"}
	out, err := r.Run(ctx, append(args, under...)...)
	if err != nil {
		return nil, err
	}
	var refs []Ref
	const facts = 4
	for fields := range slices.Chunk(strings.Split(string(out), "\x00"), facts) {
		if len(fields) < facts {
			break
		}
		ref := Ref{strings.TrimPrefix(fields[0], "\n"), fields[1], fields[2], fields[3]}
		if _, err := os.Stat(ref.WorkTree); err != nil {
			ref.WorkTree = ""
		}
		refs = append(refs, ref)
	}
	return refs, nil
}
