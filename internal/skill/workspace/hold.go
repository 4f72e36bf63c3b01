package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/lazyregexp"
)

// Hold keeps other runs from working in the workspace, until release is called
// or the process ends; it is an error when another does. What only reads need
// not hold it.
func (w *Workspace) Hold() (release func(), err error) {
	release, held, err := files.TryLock(w.Version(0), time.Second) // the one directory that is never replaced
	switch {
	case held:
		return nil, fmt.Errorf("another run works in %s: wait for its end, or name another --workspace", w.Dir)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s has lost its v0, which nothing can replace; begin a new workspace with --fresh: %w", w.Dir, err)
	}
	return release, err
}

// ownNames are the entries of a workspace.
var ownNames = lazyregexp.New(`^(v[0-9]+(\.manifest\.json|\.seen\.json)?|iteration-[0-9]+|candidate|results\.tsv|\..*)$`)

// vacant refuses a directory for a new workspace in which there is anything but
// what an interrupted attempt, or a script, made of a workspace: candidate and
// iterations are written over and removed.
func vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	_, err = os.Lstat(ManifestFile(filepath.Join(dir, "v0")))
	begun := err == nil
	for _, e := range entries {
		hidden := e.Name()[0] == '.' && e.Name() != ".git"
		if !hidden && (!begun || !ownNames().MatchString(e.Name())) {
			return fmt.Errorf("%s is no workspace and has %q in it; name an empty directory, or one that is not there yet", dir, e.Name())
		}
	}
	return nil
}
