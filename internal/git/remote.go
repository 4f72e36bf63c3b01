package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// Remote is another repository, as this one knows it: by a name, a URL or a path.
type Remote struct {
	repo *Repo
	name string
}

// Remote returns the remote of that name; nothing is asked of it.
func (r *Repo) Remote(name string) Remote { return Remote{r, name} }

// URL is the URL that fetches from the remote go to.
func (r Remote) URL(ctx context.Context) (string, error) {
	return line(r.repo.Run(ctx, "remote", "get-url", "--", r.name))
}

// Refs asks the remote for the refs with exactly these names; a ref that
// is not there is not in the answer. Without names it asks for all.
func (r Remote) Refs(ctx context.Context, names ...string) (map[string]string, error) {
	ids, _, err := r.list(ctx, names...)
	return ids, err
}

// list asks for the commits of refs, and for the targets of symbolic ones.
func (r Remote) list(ctx context.Context, names ...string) (ids, targets map[string]string, err error) {
	args := append([]string{"ls-remote", "--quiet", "--symref", "--", r.name}, names...)
	out, err := r.repo.RunWith(ctx, Input{Transport: true}, args...)
	if err != nil {
		return nil, nil, fmt.Errorf("ask remote %s: %w", r.name, err)
	}
	ids, targets = map[string]string{}, map[string]string{}
	for line := range strings.Lines(string(out)) {
		value, name, found := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if target, symbolic := strings.CutPrefix(value, "ref: "); symbolic {
			targets[name] = target
		} else if found && (len(names) == 0 || slices.Contains(names, name)) {
			ids[name] = value
		}
	}
	return ids, targets, nil
}

// DefaultBranch is the full name of the branch that the remote's HEAD stands
// on, and its commit.
func (r Remote) DefaultBranch(ctx context.Context) (Ref, error) {
	ids, targets, err := r.list(ctx, "HEAD")
	if err == nil && targets["HEAD"] == "" {
		err = fmt.Errorf("remote %s does not tell its default branch; name it with --base", r.name)
	}
	return Ref{Name: targets["HEAD"], ID: ids["HEAD"]}, err
}

// Fetch gets exactly what the refspecs say: no tags, no depth, nothing pruned,
// FETCH_HEAD not written.
func (r Remote) Fetch(ctx context.Context, refspecs ...string) error {
	return r.fetch(ctx, nil, refspecs)
}

// Obtain makes a commit of the remote be here, with all that it needs: it fetches ref
// unless the commit is whole already. Of refs only that below ObtainedRefs is written:
// without it the next fetch would get all of this once more.
func (r Remote) Obtain(ctx context.Context, id, ref string) error {
	if whole, err := r.repo.isWhole(ctx, id); err != nil || whole {
		return err
	}
	// git would follow a symbolic ref that it fetches into, and would fail where it cannot
	// write one.
	if err := r.fetch(ctx, nil, []string{ref}); err != nil {
		return err
	}
	rest, named := strings.CutPrefix(ref, "refs/") // what is no ref is fetched by its id
	// The remote may have moved on meanwhile, and of a commit that is here in part no ref
	// may say that it is whole.
	if whole, err := r.repo.isWhole(ctx, id); err != nil || !whole || !named {
		return err
	}
	// One that cannot be moved costs the next fetch some time.
	_ = r.repo.UpdateRefs(ctx, "autoloop: obtained",
		RefUpdate{Ref: ObtainedRefs + r.RefComponent() + "/" + rest, New: id, Old: Any})
	return nil
}

// ObtainedRefs is where Obtain keeps what it fetched. It only says what is here.
const ObtainedRefs = "refs/autoloop/obtained/"

// Tracking is where git keeps what the user fetches of a branch, in the usual
// configuration.
func (r Remote) Tracking(ref string) string {
	return "refs/remotes/" + r.name + "/" + strings.TrimPrefix(ref, "refs/heads/")
}

// plainRemote matches a remote's name that is also a part of a ref's name.
var plainRemote = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

// RefComponent names the remote inside a ref; a URL, which may even hold a password, by
// its hash.
func (r Remote) RefComponent() string {
	if plainRemote().MatchString(r.name) {
		return r.name
	}
	sum := sha256.Sum256([]byte(r.name))
	return "url-" + hex.EncodeToString(sum[:6])
}

// isWhole reports whether a commit is here with its history and its files. A fetch that
// was killed leaves commits without their files, and nothing refers to those: what a ref
// reaches is whole.
func (r *Repo) isWhole(ctx context.Context, id string) (bool, error) {
	if _, here, err := r.Resolve(ctx, id); err != nil || !here {
		return false, err
	}
	// A partial clone lacks on purpose what it can get later.
	_, err := r.Run(ctx, "rev-list", "--objects", "--quiet", "--missing=allow-promisor", id, "--not",
		"--all", "--")
	if _, ok := errors.AsType[*Error](err); ok {
		return false, nil
	}
	return err == nil, err
}

// Unshallow gets the history that a shallow clone lacks.
func (r Remote) Unshallow(ctx context.Context) error {
	if !r.repo.IsShallow() {
		return nil
	}
	return r.fetch(ctx, []string{"--unshallow"}, nil)
}

func (r Remote) fetch(ctx context.Context, flags, refspecs []string) error {
	args := []string{
		"fetch", "--quiet", "--no-tags", "--no-prune", "--no-auto-maintenance", "--no-write-fetch-head",
		"--no-recurse-submodules", "--no-show-forced-updates",
	}
	if len(refspecs) > 0 {
		args = append(args, "--refmap=")
	}
	args = append(append(args, flags...), "--", r.name)
	if _, err := r.repo.RunWith(ctx, Input{Transport: true}, append(args, refspecs...)...); err != nil {
		return fmt.Errorf("fetch from %s: %w", r.name, err)
	}
	return nil
}
