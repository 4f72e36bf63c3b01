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
	"strconv"
	"strings"
)

// MinimumVersion is the oldest git that has all that is used here
// (merge-tree --write-tree, cat-file -z).
const MinimumVersion = "2.38"

// Repo is an open repository. It is safe for concurrent use; its exported
// fields are not changed after Open.
type Repo struct {
	// Root is the absolute path of the top of the work tree.
	Root string
	// GitDir is the absolute path of this work tree's git directory, CommonDir
	// that of the repository; they differ in a linked work tree.
	GitDir, CommonDir string
	// ObjectFormat is "sha1" or "sha256".
	ObjectFormat string
	// Identity is the author and committer of every commit made here.
	Identity Identity

	env     environment
	extra   []Setting
	drivers *drivers
	temp    string
	signing Signing
	read    *remembered
	config  *configured
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

var defaultIdentity = Identity{Name: "Autoloop", Email: "autoloop@localhost"}

// Option changes how a repository is opened.
type Option func(*Repo)

// WithIdentity sets who makes the commits.
func WithIdentity(id Identity) Option { return func(r *Repo) { r.Identity = id } }

// WithSigning signs every commit made here, with the key that git's own
// configuration names in user.signingKey. A key that asks for a passphrase
// makes the commit fail.
func WithSigning(how Signing) Option { return func(r *Repo) { r.signing = how } }

// WithSettings adds configuration to every call, through GIT_CONFIG_COUNT, so
// that a credential given here is in no argument list, URL or file.
func WithSettings(settings ...Setting) Option {
	return func(r *Repo) { r.extra = append(r.extra, settings...) }
}

// Open finds the repository that dir is in. env is the base environment of
// every call, as NAME=value; its GIT_* variables are not handed on. The errors
// are ErrNoGit, ErrTooOld, ErrNotRepository, ErrBare and *OwnershipError.
func Open(ctx context.Context, dir string, env []string, options ...Option) (*Repo, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find repository %s: %w", dir, err)
	}
	r := &Repo{
		Root: absolute, Identity: defaultIdentity, env: newEnvironment(env), drivers: &drivers{},
		read: &remembered{}, config: &configured{},
	}
	for _, option := range options {
		option(r)
	}
	found := make(chan error, 1)
	version := *r
	go func() { found <- version.checkVersion(ctx) }() // each is a process that takes milliseconds to start
	err = r.discover(ctx, absolute)
	if tooOld := <-found; tooOld != nil {
		return nil, tooOld
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// WithTemp returns the same repository with its temporary files in dir, so that
// whoever clears dir up after a killed process has them too.
func (r *Repo) WithTemp(dir string) *Repo {
	there := *r
	there.temp = dir
	return &there
}

// At returns the repository with another git directory, which borrows the objects of
// this one.
func (r *Repo) At(gitDir string) *Repo {
	there := *r
	there.GitDir = gitDir
	return &there
}

func (r *Repo) checkVersion(ctx context.Context) error {
	out, err := r.execute(ctx, call{dir: r.Root, args: []string{"version"}})
	if err != nil {
		return err
	}
	version := strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")
	if versionBelow(version, MinimumVersion) {
		return fmt.Errorf("%w: this is git %s; install %s or newer", ErrTooOld, version, MinimumVersion)
	}
	return nil
}

// discover fills in the paths. It is the one place where git looks for the
// repository itself, and so the one where it checks whose it is.
func (r *Repo) discover(ctx context.Context, dir string) error {
	parse := func(flags ...string) ([]string, error) {
		args := append([]string{"rev-parse", "--path-format=absolute"}, flags...)
		out, err := r.execute(ctx, call{dir: dir, args: args})
		return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), err
	}
	what := []string{"--is-bare-repository", "--show-object-format", "--is-inside-work-tree"}
	where := []string{"--show-toplevel", "--git-dir", "--git-common-dir"}
	all, err := parse(slices.Concat(what, where)...)
	if err != nil || len(all) != len(what)+len(where) {
		// Outside of a work tree there is no top level, and a path may have a line
		// break in it.
		if all, err = parse(what...); err != nil {
			return discoveryError(dir, err)
		}
	}
	if len(all) < len(what) {
		return fmt.Errorf("find repository %s: git rev-parse printed %q", dir, all)
	}
	if all[0] == "true" {
		return fmt.Errorf("%s: %w", dir, ErrBare)
	}
	if all[2] != "true" {
		return fmt.Errorf("%s: %w", dir, ErrInsideGitDir)
	}
	r.ObjectFormat = all[1]
	paths := all[len(what):]
	if len(paths) == 0 {
		for _, flag := range where {
			lines, err := parse(flag)
			if err != nil {
				return discoveryError(dir, err)
			}
			paths = append(paths, strings.Join(lines, "\n"))
		}
	}
	for i, into := range []*string{&r.Root, &r.GitDir, &r.CommonDir} {
		*into = filepath.FromSlash(paths[i])
	}
	return nil
}

func discoveryError(dir string, err error) error {
	var failed *Error
	if !errors.As(err, &failed) {
		return err
	}
	switch {
	case strings.Contains(failed.Stderr, "dubious ownership"),
		strings.Contains(failed.Stderr, "unsafe repository"):
		return &OwnershipError{Path: ownershipPath(failed.Stderr, dir)}
	case strings.Contains(failed.Stderr, "not a git repository"):
		return fmt.Errorf("%s: %w", dir, ErrNotRepository)
	}
	return fmt.Errorf("find repository %s: %w", dir, err)
}

// ownershipPath takes the directory out of the message, because it is the top
// of the repository that has to be trusted and not the directory inside it.
func ownershipPath(stderr, dir string) string {
	_, rest, found := strings.Cut(stderr, "ownership in repository at '")
	if !found {
		return dir
	}
	path, _, found := strings.Cut(rest, "'\n")
	if !found {
		path = strings.TrimSuffix(strings.TrimSpace(rest), "'")
	}
	return path
}

// versionBelow compares the first two numbers of version with minimum; a
// version without a number is taken for a new one.
func versionBelow(version, minimum string) bool {
	have, want := strings.Split(version, "."), strings.Split(minimum, ".")
	for i := range want {
		if i >= len(have) {
			return false
		}
		h, err := strconv.Atoi(have[i])
		if err != nil {
			return false
		}
		w, _ := strconv.Atoi(want[i])
		if h != w {
			return h < w
		}
	}
	return false
}
