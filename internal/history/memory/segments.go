package memory

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
)

// The sealed segments of a program's ledger are in a directory beside its other
// files: 000001.jsonl and so on, each with what is kept at hand of it, and the
// checkpoint of them all.
const (
	sealedSuffix   = ".ledger"
	segmentForm    = "%06d.jsonl"
	condensedForm  = "%06d.short.jsonl"
	numbersForm    = "%06d.numbers.jsonl" // in place of a segment whose details are forgotten
	checkpointFile = "checkpoint.json"
	archiveFile    = "archive.json" // in place of the first segments
)

// mostSegments is how many sealed segments a ledger has at most, far more than any program
// can have: a larger number was not written by Autoloop.
const mostSegments = 100_000

// Sealed are the sealed segments of a ledger.
type Sealed struct {
	repo *git.Repo
	dir  string
	// count is how many there are, with those that were archived.
	count int
	// segments and condensed are in order; one that is missing is the zero entry.
	segments, condensed []git.TreeEntry
	// bare says of which segments only the numbers are there.
	bare map[int]bool
	// archive stands for the first segments, nil without it; sealing is its file.
	archive *history.Archive
	sealing []byte
	// checkpoint is the one that is stored, or was computed in its place; nil when it
	// can be neither, and problem says why.
	checkpoint *history.Checkpoint
	problem    error
	// stored is the file of the checkpoint.
	stored []byte
}

// readSealed finds the segments before an open one, and what they add up to; tree is
// their directory, "" when it is not there.
func (m *Memory) readSealed(ctx context.Context, tree, name string, open []byte) (*Sealed, error) {
	s := &Sealed{repo: m.Repo, dir: name + sealedSuffix, count: history.Before(open), bare: map[int]bool{}}
	if s.count > mostSegments {
		return nil, fmt.Errorf("read the ledger of %s: %s%s goes on after %d segments, more than %d; put its first line back", name, name, ledgerSuffix, s.count, mostSegments)
	}
	s.segments, s.condensed = make([]git.TreeEntry, s.count), make([]git.TreeEntry, s.count)
	var entries []git.TreeEntry
	var err error
	if tree != "" {
		if entries, err = m.Repo.LsRoot(ctx, tree); err != nil {
			return nil, fmt.Errorf("read the ledger of %s: %w", name, err)
		}
	}
	for _, e := range entries {
		switch number := 0; {
		case !regular(e):
		case e.Path == checkpointFile, e.Path == archiveFile:
			objects, err := m.Repo.Cat(ctx, e.ID)
			if err != nil {
				return nil, fmt.Errorf("read the ledger of %s: %w", name, err)
			}
			if e.Path == checkpointFile {
				s.stored = objects[0].Data
				continue
			}
			s.sealing = objects[0].Data
			if s.archive, err = history.DecodeArchive(s.sealing); err != nil {
				return nil, fmt.Errorf("read the ledger of %s: %s/%s: %w", name, s.dir, archiveFile, err)
			}
		case scans(e.Path, numbersForm, &number) && number <= s.count:
			if s.segments[number-1].ID == "" {
				s.segments[number-1], s.bare[number] = e, true
			}
		case scans(e.Path, condensedForm, &number) && number <= s.count:
			s.condensed[number-1] = e
		case scans(e.Path, segmentForm, &number) && number <= s.count:
			s.segments[number-1] = e
			delete(s.bare, number)
		}
	}
	s.checkpoint, err = history.DecodeCheckpoint(s.stored)
	if err == nil && s.checkpoint.CheckOpen(open) == nil {
		return s, nil
	}
	if s.checkpoint, s.problem = s.compute(ctx); s.problem == nil {
		s.problem = s.checkpoint.CheckOpen(open)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return s, nil
}

// sealedTree is the directory of sealed segments at a commit; "" when it is not there.
func (m *Memory) sealedTree(ctx context.Context, head, name string) (string, error) {
	found, err := m.Repo.LsFiles(ctx, head, name+sealedSuffix)
	if err != nil {
		return "", fmt.Errorf("read the ledger of %s: %w", name, err)
	}
	if len(found) == 0 || found[0].Type != "tree" {
		return "", nil
	}
	return found[0].ID, nil
}

// scans reports whether a name has a form with a number from 1, and reads that.
func scans(name, form string, number *int) bool {
	digits, has := strings.CutSuffix(name, strings.TrimPrefix(form, "%06d"))
	if !has {
		return false
	}
	n, err := strconv.Atoi(digits)
	*number = n
	return err == nil && n > 0 && fmt.Sprintf(form, n) == name
}

func (s *Sealed) each(ctx context.Context, visit func(segment []byte) error) error {
	var ids []string
	first := s.archived()
	for _, e := range s.segments[min(first, s.count):] {
		if e.ID == "" {
			break
		}
		ids = append(ids, e.ID)
	}
	err := s.repo.CatEach(ctx, ids, func(i int, o git.Object) error {
		if o.Missing() {
			return &history.SegmentError{Segment: first + i + 1, Problem: "its object is not in the repository"}
		}
		return visit(o.Data)
	})
	if err == nil && first+len(ids) < s.count {
		err = missing(first + len(ids) + 1)
	}
	return err
}

func (s *Sealed) archived() int {
	if s.archive == nil {
		return 0
	}
	return s.archive.Sum.Segments
}

// begin is what the archived segments add up to; the zero Checkpoint without any.
func (s *Sealed) begin() *history.Checkpoint {
	if s.archive == nil {
		return &history.Checkpoint{}
	}
	return s.archive.Sum
}

// Start is what the ledger adds up to before the first event that Each and Short hand
// over: nothing, unless segments were archived.
func (f Files) Start() history.Summary {
	if f.Sealed == nil {
		return history.Summary{Settings: map[string]string{}}
	}
	return f.Sealed.Start()
}

// Start is that of Files.
func (s *Sealed) Start() history.Summary { return s.begin().Summary() }

// Archive is what was archived of the ledger; nil is nothing.
func (f Files) Archive() *history.Archive {
	if f.Sealed == nil {
		return nil
	}
	return f.Sealed.archive
}

// compute adds the segments up, without the checkpoint that is stored.
func (s *Sealed) compute(ctx context.Context) (*history.Checkpoint, error) {
	at := s.begin()
	err := s.each(ctx, func(segment []byte) (err error) {
		at, err = at.Extend(segment)
		return err
	})
	return at, err
}

// Segments hands over the events of every sealed segment in its order that is not
// archived, one segment at a time in memory. One that does not go on after the one
// before is a *history.SegmentError.
func (s *Sealed) Segments(ctx context.Context, visit func([]history.Event) error) (history.Chain, error) {
	chain := s.begin().Chain
	err := s.each(ctx, func(segment []byte) error {
		events, next, err := chain.Next(segment)
		if err != nil {
			return err
		}
		chain = next
		return visit(events)
	})
	return chain, err
}

// Short is what is sealed, as history.Condense leaves it.
func (s *Sealed) Short(ctx context.Context) ([]history.Event, error) {
	var all []history.Event
	err := s.short(ctx, func(condensed []byte) error {
		log, err := history.Parse(condensed)
		if err == nil {
			all = append(all, log.Events...)
		}
		return err
	})
	return all, err
}

// Having are the events of what is sealed, condensed, in whose lines one of the texts is.
// The other lines are not parsed, which is what takes time.
func (s *Sealed) Having(ctx context.Context, texts ...string) ([]history.Event, error) {
	var all []history.Event
	err := s.short(ctx, func(condensed []byte) error {
		events, err := having(condensed, texts)
		all = append(all, events...)
		return err
	})
	return all, err
}

// having are the events of a segment in whose lines one of the texts is.
func having(segment []byte, texts []string) ([]history.Event, error) {
	var found []byte
	for line := range bytes.Lines(history.Body(segment)) {
		if slices.ContainsFunc(texts, func(text string) bool { return bytes.Contains(line, []byte(text)) }) {
			found = append(found, line...)
		}
	}
	log, err := history.Parse(found)
	return opened(log), err
}

func (s *Sealed) short(ctx context.Context, visit func(condensed []byte) error) error {
	ids := s.shortIDs()
	if len(ids) == s.count-s.archived() {
		return s.repo.CatEach(ctx, ids, func(_ int, o git.Object) error { return visit(o.Data) })
	}
	return s.each(ctx, func(segment []byte) error {
		condensed, err := history.Condense(segment)
		if err != nil {
			return err
		}
		return visit(condensed)
	})
}

func (s *Sealed) shortIDs() []string {
	var ids []string
	for _, e := range s.condensed[min(s.archived(), s.count):] {
		if e.ID != "" {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// Latest are the events of the last segments, condensed, in whose lines one of the texts
// is: of as many segments as it takes until enough, which is asked with those of each
// segment, says yes.
func (s *Sealed) Latest(ctx context.Context, enough func([]history.Event) bool, texts ...string) ([]history.Event, error) {
	return s.latest(enough, texts, func(number int) ([]byte, error) {
		id := s.condensed[number-1].ID
		if id == "" {
			segment, err := s.present(ctx, number)
			if err != nil {
				return nil, err
			}
			return history.Condense(segment)
		}
		objects, err := s.repo.Cat(ctx, id)
		if err != nil {
			return nil, err
		}
		return objects[0].Data, nil
	})
}

// LatestWhole is Latest with the details of events, as far as they were not forgotten.
func (s *Sealed) LatestWhole(ctx context.Context, enough func([]history.Event) bool, texts ...string) ([]history.Event, error) {
	return s.latest(enough, texts, func(number int) ([]byte, error) {
		return s.present(ctx, number)
	})
}

// latest reads a few segments side by side, of which the older ones may turn out not to
// be needed: what is wrong with those is no error.
func (s *Sealed) latest(enough func([]history.Event) bool, texts []string, read func(number int) ([]byte, error)) ([]history.Event, error) {
	const most = 4 // at once, on however many cores
	var parts [][]history.Event
	for number := s.count; number > s.archived(); {
		count := min(runtime.GOMAXPROCS(0), most, number-s.archived())
		for _, p := range havingEach(count, texts, func(i int) ([]byte, error) { return read(number - i) }) {
			if p.err != nil {
				return nil, p.err
			}
			if parts = append(parts, p.events); enough(p.events) {
				number = 0
				break
			}
		}
		number -= count
	}
	slices.Reverse(parts)
	return slices.Concat(parts...), nil
}

// part is what having found in a segment.
type part struct {
	events []history.Event
	err    error
}

// havingEach is having for so many segments, side by side.
func havingEach(count int, texts []string, read func(i int) ([]byte, error)) []part {
	all := make([]part, count)
	var group sync.WaitGroup
	for i := range all {
		segment, err := read(i)
		if err != nil {
			all[i].err = err
			continue
		}
		group.Go(func() { all[i].events, all[i].err = having(segment, texts) })
	}
	group.Wait()
	return all
}

// Shown is what people are shown of what is sealed, and how many of its events that
// leaves out.
func (s *Sealed) Shown() (events []history.Event, left int, err error) {
	events, err = s.checkpoint.Shown()
	return events, s.checkpoint.Lines - len(events), err
}

// MayHave reports whether a change with this digest may have been decided in what is
// sealed. No is certain.
func (s *Sealed) MayHave(digest string) bool { return s.checkpoint.MayHave(digest) }

// Log is the ledger: the events of its open segment, and what the sealed ones add up
// to.
func (f Files) Log() (*history.Log, error) {
	switch {
	case f.Sealed == nil:
		return history.Open(nil, f.Ledger)
	case f.Sealed.problem != nil:
		return nil, f.Sealed.problem
	default:
		return history.Open(f.Sealed.checkpoint, f.Ledger)
	}
}

// Segments hands over the events of every segment of the ledger that is not archived,
// one segment at a time in memory and the open one last. What is wrong with a segment is
// a *history.SegmentError.
func (f Files) Segments(ctx context.Context, visit func([]history.Event) error) error {
	if f.Sealed == nil {
		log, err := history.Open(nil, f.Ledger)
		if err != nil {
			return err
		}
		return visit(log.Events)
	}
	chain, err := f.Sealed.Segments(ctx, visit)
	if err != nil {
		return err
	}
	open, _, err := chain.Next(f.Ledger)
	if err != nil {
		return err
	}
	return visit(open)
}

// Short is the whole ledger, as history.Condense leaves what is sealed of it.
func (f Files) Short(ctx context.Context) ([]history.Event, error) {
	log, err := f.Log()
	if err != nil || f.Sealed == nil {
		return opened(log), err
	}
	all, err := f.Sealed.Short(ctx)
	return append(all, log.Events...), err
}

func opened(log *history.Log) []history.Event {
	if log == nil {
		return nil
	}
	return log.Events
}

// segment reads one sealed segment; nothing when it is missing.
func (s *Sealed) segment(ctx context.Context, number int) ([]byte, error) {
	id := s.segments[number-1].ID
	if id == "" {
		return nil, nil
	}
	objects, err := s.repo.Cat(ctx, id)
	if err != nil {
		return nil, err
	}
	return objects[0].Data, nil
}

// present is segment, which has to be there.
func (s *Sealed) present(ctx context.Context, number int) ([]byte, error) {
	segment, err := s.segment(ctx, number)
	if err == nil && segment == nil {
		err = missing(number)
	}
	return segment, err
}

func missing(number int) error {
	return &history.SegmentError{Segment: number, Problem: "it is not there"}
}
