package evalrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/lazyregexp"
)

// piece matches the names of pieces. Nothing else that is in the directory is ours to
// remove.
var piece = lazyregexp.New(`^([0-9a-f]{32}/[0-9]+|judgements/[0-9a-f]{32})$`)

// Archive keeps finished pieces of work under their names: a directory of files a piece, which is
// there whole or not at all, whenever the process or the machine ends.
type Archive struct {
	// Dir has the pieces. It is made when the first one is kept.
	Dir string
	// Stage is an existing directory on the same file system, where pieces are
	// put together. What is left there has no meaning; its owner removes it.
	Stage string
}

// Begin returns a new empty directory, in which a piece is put together.
func (a *Archive) Begin() (string, error) {
	dir, err := os.MkdirTemp(a.Stage, "piece-")
	if err != nil {
		return "", fmt.Errorf("begin to keep a result: %w", err)
	}
	return dir, nil
}

// Keep takes the directory that Begin returned, with plain files in it, adds a value as JSON
// under a file's name, and puts it under a clean relative name with slashes, in the place of
// whatever is there. When it returns nil the piece outlives a crash of the machine.
func (a *Archive) Keep(staged, name, file string, value any) error {
	place := a.Path(name)
	text, err := json.MarshalIndent(value, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(staged, file), text, 0o600)
	}
	if err == nil {
		err = files.SyncFiles(staged)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(place), 0o700)
	}
	if err == nil {
		if err = os.Rename(place, staged+"-old"); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		err = os.Rename(staged, place)
	}
	if err == nil {
		err = files.SyncUpwards(filepath.Dir(place), a.Dir)
	}
	if err != nil {
		err = fmt.Errorf("keep a result as %s: %w", place, err)
	}
	return err
}

// Path is where a piece is, or would be.
func (a *Archive) Path(name string) string {
	return filepath.Join(a.Dir, name)
}

// Read reads a value of a piece, and reports whether it is there and can be read.
func (a *Archive) Read(name, file string, into any) bool {
	const most = 4 << 20
	data, err := files.ReadSmall(filepath.Join(a.Path(name), file), most)
	return err == nil && json.Unmarshal(data, into) == nil
}

// Forget removes the pieces that were kept before a time, and the directories
// that this leaves empty. What cannot be removed stays.
func (a *Archive) Forget(before time.Time) {
	found, _ := fs.Glob(os.DirFS(a.Dir), "*/*") // what cannot be read stays
	for _, name := range found {
		place := a.Path(name)
		info, err := os.Lstat(place)
		if err != nil || !info.IsDir() || !info.ModTime().Before(before) || !piece().MatchString(name) {
			continue
		}
		_ = os.RemoveAll(place)
		_ = os.Remove(filepath.Dir(place)) // when it is empty
	}
}

// Room reports an error when the file system of a directory cannot take a few
// more bytes: then what a command said there of its own failure is no result.
func Room(dir string) error {
	const some = 1 << 20
	file, err := os.CreateTemp(dir, "room-") // which follows no link
	if err == nil {
		_, err = file.Write(make([]byte, some))
		err = errors.Join(err, file.Sync(), file.Close(), os.Remove(file.Name()))
	}
	if err != nil {
		err = fmt.Errorf("there is no room in %s: %w; make room and run it again, what was finished is kept", dir,
			files.Cause(err))
	}
	return err
}
