package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/org/autoloop/internal/files"
)

// seen is the file beside a snapshot that says where its tree was seen: in the
// snapshot itself, in the directory that it was taken of, in those that it was
// restored to. A file whose size, times and inode are the same there is not read
// again. The file can be deleted at any time, and is not synced: one that was cut
// off is no JSON, and then everything is read.
type seen struct {
	Schema int `json:"schema"`
	// Digest is that of the snapshot's tree.
	Digest string      `json:"digest"`
	Places []seenPlace `json:"places"`
}

// seenPlace has the files of one directory, in the order of the tree: size, time
// of modification, time of change, inode. Zeros are a file that is read next time.
type seenPlace struct {
	Dir   string     `json:"dir"`
	Files [][4]int64 `json:"files"`
}

// maxPlaces bounds the directories that are remembered, the newest first.
const maxPlaces = 4

// seenFile is where a snapshot's record of size and times is.
func seenFile(snapshot string) string { return filepath.Clean(snapshot) + ".seen.json" }

// Forget lets everything be read the next time, whatever size and times say.
func Forget(snapshot string) error {
	place, err := resolve(snapshot)
	if err != nil {
		return err
	}
	return removeFile(seenFile(place))
}

// readSeen reads the record; an empty one when it cannot be used.
func readSeen(snapshot, digest string) *seen {
	const most = 64 << 20
	found := &seen{}
	data, err := readSmall(seenFile(snapshot), most)
	if err != nil || json.Unmarshal(data, found) != nil || found.Schema != Schema || found.Digest != digest {
		return &seen{Schema: Schema, Digest: digest}
	}
	return found
}

// know fills in the digests of those files of a directory that are as they were
// when the tree was seen there.
func (l *listing) know(s *seen, dir string, tree Tree) {
	i := slices.IndexFunc(s.Places, func(p seenPlace) bool { return p.Dir == dir })
	if i < 0 {
		return
	}
	stamps, known := s.Places[i].Files, 0
	for _, e := range tree {
		if !e.IsFile() {
			continue
		}
		if known == len(stamps) {
			return
		}
		was := stamps[known]
		known++
		at, found := slices.BinarySearchFunc(l.tree, e.Path, func(e Entry, path string) int { return cmp.Compare(e.Path, path) })
		if stamp := l.stamps[e.Path]; found && stamp != (files.Stamp{}) && numbers(stamp) == was && stamp.Size == e.Size && l.tree[at].IsFile() {
			l.tree[at].SHA256 = e.SHA256
		}
	}
}

func numbers(s files.Stamp) [4]int64 {
	return [4]int64{s.Size, s.Modified, s.Changed, int64(s.Inode)} //nolint:gosec // the same bits
}

// place notes that a directory has the snapshot's tree: trusted are the stamps
// that its files had by then. Those of which the last change is too near to then
// are left out.
func (s *seen) place(dir string, tree Tree, trusted map[string]files.Stamp, then time.Time) {
	place := seenPlace{Dir: dir, Files: [][4]int64{}}
	for _, e := range tree {
		if !e.IsFile() {
			continue
		}
		stamp := trusted[e.Path]
		if !stamp.SettledBy(then) {
			stamp = files.Stamp{}
		}
		place.Files = append(place.Files, numbers(stamp))
	}
	others := slices.DeleteFunc(s.Places, func(p seenPlace) bool { return p.Dir == dir })
	s.Places = append([]seenPlace{place}, others[:min(len(others), maxPlaces-1)]...)
}

// read notes what was read of a directory.
func (s *seen) read(dir string, tree Tree, was *listing) { s.place(dir, tree, was.stamps, was.begun) }

// built notes what was put together elsewhere and then, after that moment, moved
// to a directory. Second names, and moves of single files, change a file's time
// of change, not the rest: then it is looked at anew.
func (s *seen) built(ctx context.Context, dir string, tree Tree, b *building, moved time.Time) {
	if b.old == nil {
		s.place(dir, tree, b.stamps, moved)
		return
	}
	now, err := list(ctx, dir)
	if err != nil {
		return
	}
	_ = now.root.Close()
	trusted := map[string]files.Stamp{}
	for name, stamp := range b.stamps {
		is := now.stamps[name]
		if stamp.Changed = is.Changed; is == stamp {
			trusted[name] = is
		}
	}
	s.place(dir, tree, trusted, now.begun)
}

// write keeps the record. That it cannot be written does not matter: then
// everything is read.
func (s *seen) write(snapshot string) {
	text, err := json.Marshal(s)
	if err != nil {
		return
	}
	name := seenFile(snapshot)
	_ = files.ClearWrites(name)
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return
	}
	_, err = file.Write(text)
	err = errors.Join(err, file.Chmod(0o644))
	if closed := file.Close(); err != nil || closed != nil || os.Rename(file.Name(), name) != nil {
		_ = os.Remove(file.Name())
	}
}
