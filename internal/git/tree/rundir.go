package tree

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/lazyregexp"
)

const runDirPrefix = "autoloop-run-"

// runDirName matches the names that NewRunDir gives, all of one length, so that
// what is measured today has no longer path than yesterday.
var runDirName = lazyregexp.New(`^` + runDirPrefix + `[0-9a-z]{16}$`)

// NewRunDir makes a private directory for the trees of this run in another one, and
// removes those that runs left behind there. A lock on the directory says that its run
// goes on: it ends with the process, however that ends, and is seen from other pid
// namespaces too. remove deletes the directory.
func NewRunDir(above string) (dir string, remove func(), err error) {
	removeStale(above)
	for {
		dir = filepath.Join(above, runDirPrefix+strings.ToLower(rand.Text()[:16]))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", nil, err
		}
		made, err := os.Lstat(dir)
		if errors.Is(err, os.ErrNotExist) {
			continue // another run found it before it was locked
		} else if err != nil {
			return "", nil, err
		}
		unlock, err := files.Lock(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			unlock = func() {} // no locks on this file system: nobody can hold it, and nobody removes it
		}
		if now, err := os.Lstat(dir); err != nil || !os.SameFile(made, now) {
			if unlock != nil {
				unlock()
			}
			continue
		}
		return dir, func() { _ = files.RemoveAll(dir); unlock() }, nil // what stays, the next run removes
	}
}

// removeStale removes the directories of our user whose runs are gone.
func removeStale(above string) {
	entries, err := os.ReadDir(above)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !runDirName().MatchString(entry.Name()) {
			continue
		}
		dir := filepath.Join(above, entry.Name())
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || !files.OwnedByUs(info) {
			continue
		}
		if unlock, held, err := files.TryLock(dir, 0); err == nil && !held {
			_ = files.RemoveAll(dir)
			unlock()
		}
	}
}
