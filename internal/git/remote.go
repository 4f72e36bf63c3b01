package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// RemoteURL is the URL that fetches from the remote go to.
func (r *Repo) RemoteURL(ctx context.Context, remote string) (string, error) {
	return r.line(ctx, Input{}, "remote", "get-url", "--", remote)
}

// IsLocal reports whether a remote is a repository of this machine: one that a killed
// process leaves half moved, since git moves its refs one after the other.
func (r *Repo) IsLocal(ctx context.Context, remote string) bool {
	return r.localPath(ctx, remote) != ""
}

// localPath is where a remote is on this machine, "" when it is elsewhere.
func (r *Repo) localPath(ctx context.Context, remote string) string {
	url, err := r.RemoteURL(ctx, remote)
	if err != nil {
		url = remote
	}
	path, _ := strings.CutPrefix(url, "file://")
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.Root, path)
	}
	if _, err = os.Stat(path); err != nil {
		return ""
	}
	return path
}

// LsRemote asks the remote for the refs with exactly these names; a ref that
// is not there is not in the answer. Without names it asks for all.
func (r *Repo) LsRemote(ctx context.Context, remote string, names ...string) (map[string]string, error) {
	refs, err := r.lsRemote(ctx, remote, names...)
	if err != nil {
		return nil, err
	}
	ids := make(map[string]string, len(refs))
	for _, ref := range refs {
		ids[ref.Name] = ref.ID
	}
	return ids, nil
}

func (r *Repo) lsRemote(ctx context.Context, remote string, names ...string) ([]Ref, error) {
	args := append([]string{"ls-remote", "--quiet", "--symref", "--", remote}, names...)
	out, err := r.Run(ctx, Input{Transport: true}, args...)
	if err != nil {
		return nil, fmt.Errorf("ask remote %s: %w", remote, err)
	}
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		wanted[name] = true
	}
	var refs []Ref
	symrefs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		value, name, found := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !found || (len(names) > 0 && !wanted[name]) {
			continue
		}
		if target, symbolic := strings.CutPrefix(value, "ref: "); symbolic {
			symrefs[name] = target
			continue
		}
		refs = append(refs, Ref{Name: name, ID: value, Symref: symrefs[name]})
	}
	return refs, nil
}

// DefaultBranch is the full name of the branch that the remote's HEAD stands
// on, and its commit.
func (r *Repo) DefaultBranch(ctx context.Context, remote string) (Ref, error) {
	refs, err := r.lsRemote(ctx, remote, "HEAD")
	if err != nil {
		return Ref{}, err
	}
	if len(refs) == 0 || refs[0].Symref == "" {
		return Ref{}, fmt.Errorf("remote %s does not tell its default branch; name it with --base", remote)
	}
	return Ref{Name: refs[0].Symref, ID: refs[0].ID}, nil
}

// Fetch gets exactly what the refspecs say: no tags, no depth, nothing pruned,
// FETCH_HEAD not written.
func (r *Repo) Fetch(ctx context.Context, remote string, refspecs ...string) error {
	return r.fetch(ctx, remote, nil, refspecs)
}

// Unshallow gets the history that a shallow clone lacks.
func (r *Repo) Unshallow(ctx context.Context, remote string) error {
	shallow, err := r.IsShallow()
	if err != nil || !shallow {
		return err
	}
	return r.fetch(ctx, remote, []string{"--unshallow"}, nil)
}

func (r *Repo) fetch(ctx context.Context, remote string, flags, refspecs []string) error {
	args := []string{
		"fetch", "--quiet", "--no-tags", "--no-prune", "--no-auto-maintenance", "--no-write-fetch-head",
		"--no-recurse-submodules", "--no-show-forced-updates",
	}
	if len(refspecs) > 0 {
		args = append(args, "--refmap=")
	}
	args = append(append(args, flags...), "--", remote)
	if _, err := r.Run(ctx, Input{Transport: true}, append(args, refspecs...)...); err != nil {
		return fmt.Errorf("fetch from %s: %w", remote, err)
	}
	return nil
}
