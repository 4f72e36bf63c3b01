package git

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// Ref is a ref and what it points to. A symbolic ref has its target in Symref.
type Ref struct{ Name, ID, Symref string }

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
	id, err = r.line(ctx, Input{}, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
	if SaysNo(err) {
		return "", false, nil
	}
	return id, err == nil, err
}

// Head is the commit checked out; ErrNoCommits before the first one.
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
	if SaysNo(err) {
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

// CheckedOutBranches maps the full name of every branch that is checked out
// in any work tree of the repository to the path of that work tree. Work trees
// whose directory is gone do not count.
func (r *Repo) CheckedOutBranches(ctx context.Context) (map[string]string, error) {
	out, err := r.Run(ctx, Input{}, "for-each-ref", "--format=%(refname)%00%(worktreepath)%00", "refs/heads")
	if err != nil {
		return nil, err
	}
	branches := map[string]string{}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		branch, path := strings.TrimPrefix(fields[i], "\n"), fields[i+1]
		if _, err := os.Stat(path); err == nil {
			branches[branch] = path
		}
	}
	return branches, nil
}
