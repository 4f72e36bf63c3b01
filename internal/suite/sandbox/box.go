package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/process"
)

// Runner runs one command under supervision.
type Runner interface {
	Run(ctx context.Context, spec process.Spec) (process.Result, error)
}

// Maker makes sandboxes.
type Maker struct {
	Runner Runner
	// Masker removes secrets from what is kept of a command's output.
	Masker process.Masker
	// Environ makes the home dir and returns the whole environment of a process
	// that lives there; names are variables that it may see besides.
	Environ func(home string, names []string) ([]string, error)
	// Offline keeps the commands of checks from the network; it needs a Runner
	// that isolates.
	Offline bool
	// Remove deletes a directory and all below it, also where an agent closed it.
	Remove func(dir string) error
}

// Box is the sandbox of one run of one task.
type Box struct {
	// Dir is the working directory of the agent, Home its home outside of it, and
	// Env its whole environment.
	Dir, Home string
	Env       []string
	// Base is the directory that both are in.
	Base string

	maker  *Maker
	masker process.Masker
	names  []string
	from   *Template
	root   *os.Root // opened before the agent could exchange anything
}

// Open makes a sandbox in base, which must not exist: a fresh copy of the
// template, and a home beside it.
func (m *Maker) Open(ctx context.Context, base string, from *Template, names []string) (box *Box, err error) {
	source, err := os.OpenRoot(from.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = source.Close() }()
	b := &Box{
		Dir: filepath.Join(base, "work"), Home: filepath.Join(base, "home"), maker: m, masker: m.Masker,
		Base: base, names: names, from: from,
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	if b.root, err = newRoot(b.Dir); err != nil {
		return nil, err
	}
	if err := copyTree(ctx, source, b.root, from.Manifest); err != nil {
		return nil, fmt.Errorf("make a sandbox: %w", err)
	}
	b.Env, err = b.environ(b.Home)
	return b, err
}

// Hide removes more secrets from what is kept of commands, such as those that the
// agent could log in with.
func (b *Box) Hide(secrets process.Masker) { b.masker = b.masker.With(secrets) }

// environ is the environment of a process with this home. Git does not take a
// repository above the sandbox for its own.
func (b *Box) environ(home string) ([]string, error) {
	env, err := b.maker.Environ(home, b.names)
	return append(env, "GIT_CEILING_DIRECTORIES="+b.Base), err
}

// Close removes the sandbox with all that is in it.
func (b *Box) Close() error {
	if b.root != nil {
		_ = b.root.Close() // it was only read from
	}
	return b.maker.Remove(b.Base)
}

// intact reports whether the sandbox's directory is still the one that was made.
func (b *Box) intact() bool {
	ours, err := b.root.Stat(".")
	if err != nil {
		return false
	}
	now, err := os.Lstat(b.Dir)
	return err == nil && os.SameFile(ours, now)
}
