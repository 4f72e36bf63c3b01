// Package git reads and writes one repository through the git command line,
// so that neither the user's checkout and index nor anything hostile in the
// repository's configuration takes part.
package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/process"
)

// MinimumVersion is the oldest git that has all that is used here
// (merge-tree --write-tree, cat-file -z).
const MinimumVersion = "2.38"

// Repo is an open repository. It is safe for concurrent use; whoever opened it may set the
// fields that say so before that.
type Repo struct {
	// Root is the absolute path of the top of the work tree.
	Root string
	// GitDir is the absolute path of this work tree's git directory, CommonDir
	// that of the repository; they differ in a linked work tree.
	GitDir, CommonDir string
	// ObjectFormat is "sha1" or "sha256".
	ObjectFormat string
	// Identity is the author and committer of every commit made here; it may be set.
	Identity Identity
	// Signing signs each of them, with the key that git's own configuration names in
	// user.signingKey, and may be set. A key that asks for a passphrase makes the commit fail.
	Signing Signing
	// Settings are configuration that may be added to every call, through GIT_CONFIG_COUNT, so
	// that a credential given here is in no argument list, URL or file.
	Settings []Setting
	// Temp may be set to where temporary files are, so that whoever clears it up after a
	// killed process has them too.
	Temp string

	env    environment
	listed *listings
}

// Signing is how commits are signed, in the words of git's gpg.format.
type Signing string

// The ways to sign.
const (
	SSH     Signing = "ssh"
	OpenPGP Signing = "openpgp"
)

// Identity is who makes a commit.
type Identity struct{ Name, Email string }

// Open finds the repository that dir is in. env is the base environment of
// every call, as NAME=value; its GIT_* variables are not handed on. Among the errors are
// ErrNoGit and ErrNotRepository.
func Open(ctx context.Context, dir string, env []string) (*Repo, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find repository %s: %w", dir, err)
	}
	r := &Repo{
		Root: absolute, Identity: Identity{"Autoloop", "autoloop@localhost"}, env: newEnvironment(env),
		listed: &listings{lists: map[string][]TreeEntry{}},
	}
	if err := r.checkVersion(ctx); err != nil {
		return nil, err
	}
	if err := r.discover(ctx, absolute); err != nil {
		return nil, err
	}
	return r, nil
}

// At returns the repository with another git directory, which borrows the objects of
// this one.
func (r *Repo) At(gitDir string) *Repo {
	there := *r
	there.GitDir = gitDir
	return &there
}

func (r *Repo) checkVersion(ctx context.Context) error {
	out, err := r.execute(ctx, Input{WorkTree: r.Root}, nil, "version")
	if err != nil {
		return err
	}
	version := strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")
	if versionBelow(version, MinimumVersion) {
		return fmt.Errorf("git is too old: this is git %s; install %s or newer", version, MinimumVersion)
	}
	return nil
}

// discover fills in the paths. It is the one place where git looks for the
// repository itself, and so the one where it checks whose it is.
func (r *Repo) discover(ctx context.Context, dir string) error {
	// Outside of a work tree there is no top level, but what comes before it is said.
	out, err := r.execute(ctx, Input{WorkTree: dir}, nil, "rev-parse", "--path-format=absolute",
		"--is-bare-repository", "--is-inside-work-tree", "--show-object-format", "--show-toplevel", "--git-dir",
		"--git-common-dir")
	said := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	const facts = 6
	switch {
	case said[0] == "true":
		return fmt.Errorf("%s: a bare repository has no files to work on; use a clone of it", dir)
	case len(said) > 1 && said[1] != "true":
		return fmt.Errorf("%s: this is inside a .git directory; use the work tree", dir)
	case err != nil:
		return discoveryError(dir, err)
	case len(said) != facts:
		return fmt.Errorf("find repository %q: its path may have no line break; git rev-parse printed %q", dir, said)
	}
	r.ObjectFormat = said[2]
	paths := said[3:]
	r.Root, r.GitDir, r.CommonDir = filepath.FromSlash(paths[0]), filepath.FromSlash(paths[1]),
		filepath.FromSlash(paths[2])
	return nil
}

func discoveryError(dir string, err error) error {
	failed, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return err
	case strings.Contains(failed.Stderr, "dubious ownership"),
		strings.Contains(failed.Stderr, "unsafe repository"):
		if found := owned().FindStringSubmatch(failed.Stderr); found != nil {
			dir = found[1]
		}
		return fmt.Errorf("%s belongs to another user and git does not trust it (dubious ownership); if you do, run: "+
			"git config --global --add safe.directory %s", dir, process.QuoteWord(dir))
	case strings.Contains(failed.Stderr, "not a git repository"):
		return fmt.Errorf("%s: %w", dir, ErrNotRepository)
	}
	return fmt.Errorf("find repository %s: %w", dir, err)
}

// owned is the top of the repository that has to be trusted, not the directory inside it.
var owned = lazyregexp.New(`ownership in repository at '(.*)'`)

// versionBelow compares the first two numbers of version with minimum; a
// version without a number is taken for a new one.
func versionBelow(version, minimum string) bool {
	var have, want [2]int
	_, _ = fmt.Sscanf(minimum, "%d.%d", &want[0], &want[1])
	read, _ := fmt.Sscanf(version, "%d.%d", &have[0], &have[1])
	return read > 0 && slices.Compare(have[:read], want[:read]) < 0
}

// Scratch makes an empty repository in an existing directory, for comparing and
// merging trees that are in none, and opens it. Whoever made the directory
// removes it.
func Scratch(ctx context.Context, dir string, env []string) (*Repo, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	made := &Repo{env: newEnvironment(env)}
	if _, err := made.execute(ctx, Input{WorkTree: absolute}, nil, "init", "--quiet", "--initial-branch=main",
		"--template="); err != nil {
		return nil, err
	}
	return Open(ctx, absolute, env)
}
