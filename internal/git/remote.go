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
	return r.repo.line(ctx, Input{}, "remote", "get-url", "--", r.name)
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
	out, err := r.repo.Run(ctx, Input{Transport: true}, args...)
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
	obtained, tips := r.obtained(ref), []string(nil)
	if obtained != "" {
		tips = r.repo.existing(ctx, ref, r.Tracking(ref), obtained)
	}
	if whole, err := r.repo.isWhole(ctx, id, tips); err != nil || whole {
		return err
	}
	// Of all that is here git would name the newest commits first. Where the branch has
	// taken in one of those, from the default branch, a remote looks no further and sends
	// the whole branch.
	var flags []string
	for _, tip := range tips {
		flags = append(flags, "--negotiation-tip="+tip)
	}
	// git would follow a symbolic ref that it fetches into, and would fail where it cannot
	// write one.
	if err := r.fetch(ctx, flags, []string{ref}); err != nil || obtained == "" {
		return err
	}
	// The remote may have moved on meanwhile, and of a commit that is here in part no ref
	// may say that it is whole.
	if whole, err := r.repo.isWhole(ctx, id, nil); err != nil || !whole {
		return err
	}
	r.repo.keep(ctx, obtained, id)
	return nil
}

// keep moves a ref without a log, as far as that can be done. One that cannot be moved
// costs the next fetch some time.
func (r *Repo) keep(ctx context.Context, ref, id string) {
	_ = unlocked(ctx, func() error {
		_, err := r.Run(ctx, Input{}, "update-ref", "--no-deref", ref, id)
		return err
	})
}

// existing are the commits of those of the refs that exist.
func (r *Repo) existing(ctx context.Context, refs ...string) []string {
	var ids []string
	for _, ref := range refs {
		if id, there, err := r.Resolve(ctx, ref); err == nil && there {
			ids = append(ids, id)
		}
	}
	return ids
}

// ObtainedRefs is where Obtain keeps what it fetched. It only says what is here.
const ObtainedRefs = "refs/autoloop/obtained/"

// obtained is where what was fetched of a ref is kept, "" for what is fetched by its id.
func (r Remote) obtained(ref string) string {
	if rest, is := strings.CutPrefix(ref, "refs/"); is {
		return ObtainedRefs + r.RefComponent() + "/" + rest
	}
	return ""
}

// Tracking is where git keeps what the user fetches of a branch, in the usual
// configuration.
func (r Remote) Tracking(ref string) string {
	return "refs/remotes/" + r.name + "/" + strings.TrimPrefix(ref, "refs/heads/")
}

// plainRemote matches a remote's name that is also a part of a ref's name.
var plainRemote = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

// IsPlain reports whether the remote's name is also a part of a ref's name.
func (r Remote) IsPlain() bool { return plainRemote().MatchString(r.name) }

// RefComponent names the remote inside a ref; a URL, which may even hold a password, by
// its hash.
func (r Remote) RefComponent() string {
	if r.IsPlain() {
		return r.name
	}
	sum := sha256.Sum256([]byte(r.name))
	return "url-" + hex.EncodeToString(sum[:6])
}

// isWhole reports whether a commit is here with its history and its files. A fetch that
// was killed leaves commits without their files, and nothing refers to those: what a ref
// reaches is whole. That of one of the tips, which are commits of refs, needs no process.
func (r *Repo) isWhole(ctx context.Context, id string, tips []string) (bool, error) {
	if _, here, err := r.Resolve(ctx, id); err != nil || !here {
		return false, err
	}
	if slices.Contains(tips, id) {
		return true, nil
	}
	// A partial clone lacks on purpose what it can get later.
	_, err := r.Run(ctx, Input{}, "rev-list", "--objects", "--quiet", "--missing=allow-promisor", id, "--not",
		"--all", "--")
	if _, ok := errors.AsType[*Error](err); ok {
		return false, nil
	}
	return err == nil, err
}

// Unshallow gets the history that a shallow clone lacks.
func (r Remote) Unshallow(ctx context.Context) error {
	shallow, err := r.repo.IsShallow()
	if err != nil || !shallow {
		return err
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
	if _, err := r.repo.Run(ctx, Input{Transport: true}, append(args, refspecs...)...); err != nil {
		return fmt.Errorf("fetch from %s: %w", r.name, err)
	}
	return nil
}
