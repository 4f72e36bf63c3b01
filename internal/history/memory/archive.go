package memory

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/misuse"
)

// Archiving is what is to be moved from a ledger to a file: whole segments, the oldest.
type Archiving struct {
	Program string `json:"program"`
	// First and Last are numbers of segments, FirstIteration and LastIteration of
	// decided iterations; Left is how many iterations stay.
	First          int       `json:"first_segment"`
	Last           int       `json:"last_segment"`
	FirstIteration int       `json:"first_iteration"`
	LastIteration  int       `json:"last_iteration"`
	Until          time.Time `json:"until"`
	Lines          int       `json:"lines"`
	Bytes          int64     `json:"bytes"`
	Left           int       `json:"left"`

	sealed *Sealed
	sum    *history.Checkpoint
}

// FileName is what the archive is called where nobody says.
func (a *Archiving) FileName() string {
	return fmt.Sprintf("%s-%06d-%06d.jsonl", a.Program, a.First, a.Last)
}

// FindArchivable finds the oldest segments that can go while at least the latest
// keep iterations stay; nil when there is nothing to archive.
func (m *Memory) FindArchivable(ctx context.Context, name string, keep int) (*Archiving, error) {
	current, _, err := m.Read(ctx, name)
	if err != nil {
		return nil, err
	}
	if current.Ledger == nil {
		return nil, ErrNoRecords
	}
	log, err := current.Log()
	if err != nil || current.Sealed == nil {
		return nil, err
	}
	summary, s := log.Summary(), current.Sealed
	at := s.begin()
	before, _ := at.Iteration()
	a := &Archiving{Program: name, First: at.Segments + 1, Last: at.Segments, FirstIteration: before + 1, Left: summary.Iteration - before, sealed: s, sum: at}
	enough := errors.New("the others stay")
	err = s.each(ctx, func(segment []byte) error {
		next, err := a.sum.Extend(segment)
		if err != nil {
			return err
		}
		last, until := next.Iteration()
		if last > summary.Iteration-keep {
			return enough
		}
		a.Lines += next.Lines - a.sum.Lines
		a.Last, a.sum, a.LastIteration, a.Until, a.Left = next.Segments, next, last, until, summary.Iteration-last
		a.Bytes += int64(len(segment))
		return nil
	})
	if errors.Is(err, enough) {
		err = nil
	}
	if err != nil || a.Last < a.First {
		return nil, err
	}
	return a, nil
}

// Archive moves the segments to a file, and leaves what they add up to. The file is
// complete before anything changes; one that is there already has to be the same. A
// program that a run may be working on stays as it is.
func (m *Memory) Archive(ctx context.Context, a *Archiving, file string) error {
	sum, err := a.write(ctx, file)
	if err != nil {
		return err
	}
	archive := &history.Archive{Sum: a.sum}
	if a.sealed.archive != nil {
		archive.Files = append(archive.Files, a.sealed.archive.Files...)
	}
	archive.Files = append(archive.Files, history.ArchiveFile{
		Name: filepath.Base(file), SHA256: sum, Bytes: a.Bytes, First: a.First, Last: a.Last, LastIteration: a.LastIteration, Until: a.Until,
	})
	text, err := archive.Encode()
	if err != nil {
		return err
	}
	moved := map[string]*git.File{a.sealed.dir + "/" + archiveFile: {Data: text}}
	for number := a.First; number <= a.Last; number++ {
		for _, form := range []string{segmentForm, numbersForm, condensedForm} {
			moved[a.sealed.dir+"/"+fmt.Sprintf(form, number)] = nil
		}
	}
	_, err = m.Update(ctx, Update{
		Program: a.Program, Message: fmt.Sprintf("%s: iterations up to %d are archived", a.Program, a.LastIteration), moved: moved,
		Apply: func(current Files) (Files, error) {
			log, err := current.Log()
			if err != nil {
				return Files{}, err
			}
			if err := a.unchanged(current.Sealed); err != nil {
				return Files{}, err
			}
			summary := log.Summary()
			if open := summary.Open; open != nil && open.Lease != nil && m.Now().Before(open.Lease.Until) {
				return Files{}, misuse.Errorf("run %s may be working on %s: archive its history when that has ended", open.Run, a.Program)
			}
			err = log.Append(&history.Set{Head: history.Head{Time: m.Now(), Iteration: summary.Iteration}, Key: history.Archived, Value: history.Digest(text)})
			current.Ledger = log.Bytes()
			return current, err
		},
	})
	return err
}

// unchanged is an error when the segments that go are not those that were looked at.
func (a *Archiving) unchanged(now *Sealed) error {
	same := now != nil && now.archived() == a.sealed.archived() && now.count >= a.Last
	for i := a.First - 1; same && i < a.Last; i++ {
		same = now.segments[i].ID == a.sealed.segments[i].ID
	}
	if !same {
		return misuse.Errorf("the history of %s was changed meanwhile: look at it again", a.Program)
	}
	return nil
}

// write makes the file, and returns its digest.
func (a *Archiving) write(ctx context.Context, file string) (sum string, err error) {
	out, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(out.Name()) }()
	hash := sha256.New()
	both := io.MultiWriter(out, hash)
	for number := a.First; number <= a.Last && err == nil; number++ {
		var segment []byte
		if segment, err = a.sealed.segment(ctx, number); err == nil {
			_, err = both.Write(segment)
		}
	}
	if err = errors.Join(err, out.Chmod(0o644), out.Sync(), out.Close()); err != nil {
		return "", fmt.Errorf("write %s: %w", file, err)
	}
	sum = hex.EncodeToString(hash.Sum(nil))
	// Linking fails where a file is already, which is not replaced.
	switch err := os.Link(out.Name(), file); {
	case errors.Is(err, fs.ErrExist):
		if there, err := digestOf(file); err != nil || there != sum {
			return "", misuse.Errorf("%s is there already, and is another file: name one with --out", file)
		}
	case err != nil:
		return "", fmt.Errorf("write %s: %w", file, err)
	}
	return sum, files.SyncDirectory(filepath.Dir(file))
}

func digestOf(file string) (string, error) {
	in, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer func() { _ = in.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, in); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// archived is what is archived, read from the files when they are given.
func (a *audited) archived() (*history.Checkpoint, error) {
	s := a.Sealed
	if len(a.archives) == 0 {
		return s.begin(), nil
	}
	if s.archive == nil {
		return nil, misuse.Errorf("nothing of this ledger is archived, and --archive is given")
	}
	at := &history.Checkpoint{}
	for _, one := range s.archive.Files {
		file, err := a.archiveOf(one)
		if err != nil {
			return nil, err
		}
		next, err := a.readArchive(at, file)
		if err != nil {
			return nil, err
		}
		at = next
	}
	if !at.Agrees(s.archive.Sum) {
		a.find(archiveFile + " is not what the archived segments add up to")
		return at, nil
	}
	return s.archive.Sum, nil // what follows was added to it
}

// archiveOf is the one of the given files that has these segments.
func (a *audited) archiveOf(want history.ArchiveFile) (string, error) {
	for _, file := range a.archives {
		sum, err := digestOf(file)
		if err != nil {
			return "", misuse.New(err)
		}
		if sum == want.SHA256 {
			return file, nil
		}
	}
	return "", misuse.Errorf("segments %d to %d are in %s (SHA-256 %.12s), which is not given: give every archive, each with --archive",
		want.First, want.Last, want.Name, want.SHA256)
}

// readArchive reads the segments of a file, one at a time.
func (a *audited) readArchive(at *history.Checkpoint, file string) (*history.Checkpoint, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	var segment []byte
	end := func() error {
		log, err := history.ParseOpen(segment)
		if err != nil {
			return fmt.Errorf("%s: segment %d: %w", file, at.Segments+1, err)
		}
		next, wrong := at.Extend(segment)
		if wrong != nil {
			a.find("%s: %s", filepath.Base(file), wrong)
			next = at.Skip(segment)
		}
		a.add(log.Events)
		at, segment = next, nil
		return nil
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(segment) > 0 && (history.Sealed(line) || len(line) == 0) {
			if err := end(); err != nil {
				return nil, err
			}
		}
		segment = append(segment, line...)
		if errors.Is(err, io.EOF) {
			return at, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// sealing holds what stands for archived segments against the ledger, which names it.
func (a *audited) sealing() error {
	log, err := a.Log()
	if err != nil {
		return nil //nolint:nilerr // what is wrong with the segments is said
	}
	summary := log.Summary()
	says, is := summary.Settings[history.Archived], ""
	if a.Sealed.archive != nil {
		is = history.Digest(a.Sealed.sealing)
	}
	if says != is {
		a.find(archiveFile+" has the digest %.12s, and the ledger says %.12s", cmp.Or(is, "none"), cmp.Or(says, "none"))
	}
	return nil
}

// archivedBefore computes what stands for archived segments again, from the segments
// that the branch had before each archiving, and says what is wrong with it; "" is
// nothing, also where a shallow clone does not have them.
func (m *Memory) archivedBefore(ctx context.Context, head, name string) (string, error) {
	file := name + sealedSuffix + "/" + archiveFile
	versions, err := m.Repo.Versions(ctx, file, head)
	if err != nil {
		return "", err
	}
	for _, v := range versions {
		if v.Blob == "" {
			break // it was removed whole, and what is before is of another ledger
		}
		objects, err := m.Repo.Cat(ctx, v.Blob)
		if err != nil {
			return "", err
		}
		archive, err := history.DecodeArchive(objects[0].Data)
		if err != nil {
			return fmt.Sprintf("%s of commit %.12s: %v", file, v.Commit, err), nil
		}
		parent, there, err := m.Repo.Resolve(ctx, v.Commit+"^")
		if err != nil || !there {
			return "", err
		}
		before, err := m.read(ctx, parent, name)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if err != nil { // somebody has put it right since, and no commit can be taken back
			return fmt.Sprintf("%s of commit %.12s: what was before it cannot be read: %v", file, v.Commit, err), nil
		}
		if same, err := before.givesArchive(ctx, archive); err != nil {
			return "", err
		} else if !same {
			return fmt.Sprintf("%s of commit %.12s is not what the segments before it add up to", file, v.Commit), nil
		}
	}
	return "", nil
}

// givesArchive reports whether the first segments add up to an archive's sum.
func (f Files) givesArchive(ctx context.Context, archive *history.Archive) (bool, error) {
	if f.Sealed == nil {
		return false, nil
	}
	at, enough := f.Sealed.begin(), errors.New("these are enough")
	err := f.Sealed.each(ctx, func(segment []byte) (err error) {
		if at.Segments == archive.Sum.Segments {
			return enough
		}
		at, err = at.Extend(segment)
		return err
	})
	if _, ok := errors.AsType[*history.SegmentError](err); ok {
		return false, nil
	}
	if err != nil && !errors.Is(err, enough) {
		return false, err
	}
	return at.Agrees(archive.Sum), nil
}
