package memory

import (
	"bytes"
	"context"
	"fmt"

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
	checkpointFile = "checkpoint.json"
)

// Sealed are the sealed segments of a ledger.
type Sealed struct {
	repo *git.Repo
	dir  string
	// count is how many there are.
	count int
	// segments and condensed are in order; one that is missing is the zero entry.
	segments, condensed []git.TreeEntry
	// checkpoint is the one that is stored, or was computed in its place; nil when it
	// can be neither, and problem says why.
	checkpoint *history.Checkpoint
	problem    error
	// stored is the file of the checkpoint.
	stored []byte
}

// readSealed finds the segments before an open one, and what they add up to.
func (m *Memory) readSealed(ctx context.Context, head, name string, open []byte) (*Sealed, error) {
	s := &Sealed{repo: m.Repo, dir: name + sealedSuffix, count: history.Before(open)}
	s.segments, s.condensed = make([]git.TreeEntry, s.count), make([]git.TreeEntry, s.count)
	entries, err := m.sealedEntries(ctx, head, s.dir)
	if err != nil {
		return nil, fmt.Errorf("read the ledger of %s: %w", name, err)
	}
	for _, e := range entries {
		switch number := 0; {
		case !regular(e):
		case e.Path == checkpointFile:
			objects, err := m.Repo.Cat(ctx, e.ID)
			if err != nil {
				return nil, fmt.Errorf("read the ledger of %s: %w", name, err)
			}
			s.stored = objects[0].Data
		case scans(e.Path, condensedForm, &number) && number <= s.count:
			s.condensed[number-1] = e
		case scans(e.Path, segmentForm, &number) && number <= s.count:
			s.segments[number-1] = e
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

// sealedEntries lists the directory of sealed segments; none when it is not there.
func (m *Memory) sealedEntries(ctx context.Context, head, dir string) ([]git.TreeEntry, error) {
	found, err := m.Repo.LsFiles(ctx, head, dir)
	if err != nil || len(found) == 0 || found[0].Type != "tree" {
		return nil, err
	}
	return m.Repo.LsRoot(ctx, found[0].ID)
}

// scans reports whether a name has a form with a number from 1, and reads that.
func scans(name, form string, number *int) bool {
	n, err := fmt.Sscanf(name, form, number)
	return err == nil && n == 1 && *number > 0 && fmt.Sprintf(form, *number) == name
}

// each reads the segments one after the other.
func (s *Sealed) each(ctx context.Context, visit func(segment []byte) error) error {
	var ids []string
	for _, e := range s.segments {
		if e.ID == "" {
			break
		}
		ids = append(ids, e.ID)
	}
	err := s.repo.CatEach(ctx, ids, func(i int, o git.Object) error {
		if o.Missing() {
			return &history.SegmentError{Segment: i + 1, Problem: "its object is not in the repository"}
		}
		return visit(o.Data)
	})
	if err == nil && len(ids) < s.count {
		err = &history.SegmentError{Segment: len(ids) + 1, Problem: "it is not there"}
	}
	return err
}

// compute adds the segments up, without the checkpoint that is stored.
func (s *Sealed) compute(ctx context.Context) (*history.Checkpoint, error) {
	at := &history.Checkpoint{}
	err := s.each(ctx, func(segment []byte) (err error) {
		at, err = at.Extend(segment)
		return err
	})
	return at, err
}

// Each hands over every sealed event in its order, with one segment at a time in
// memory. A segment that does not go on after the one before is a
// *history.SegmentError.
func (s *Sealed) Each(ctx context.Context, visit func(history.Event) error) (history.Chain, error) {
	var chain history.Chain
	err := s.each(ctx, func(segment []byte) error {
		events, next, err := chain.Next(segment)
		if err != nil {
			return err
		}
		chain = next
		return visitEach(events, visit)
	})
	return chain, err
}

func visitEach(events []history.Event, visit func(history.Event) error) error {
	for _, e := range events {
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}

// Short is what is sealed, as history.Condense leaves it.
func (s *Sealed) Short(ctx context.Context) ([]history.Event, error) {
	var all []history.Event
	add := func(condensed []byte) error {
		log, err := history.Parse(condensed)
		if err == nil {
			all = append(all, log.Events...)
		}
		return err
	}
	ids := s.shortIDs()
	if len(ids) == s.count {
		return all, s.repo.CatEach(ctx, ids, func(_ int, o git.Object) error { return add(o.Data) })
	}
	err := s.each(ctx, func(segment []byte) error {
		condensed, err := history.Condense(segment)
		if err != nil {
			return err
		}
		return add(condensed)
	})
	return all, err
}

func (s *Sealed) shortIDs() []string {
	var ids []string
	for _, e := range s.condensed {
		if e.ID != "" {
			ids = append(ids, e.ID)
		}
	}
	return ids
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

// Each hands over every event of the ledger in its order, with one segment at a time
// in memory. What is wrong with a segment is a *history.SegmentError.
func (f Files) Each(ctx context.Context, visit func(history.Event) error) error {
	if f.Sealed == nil {
		log, err := history.Open(nil, f.Ledger)
		if err != nil {
			return err
		}
		return visitEach(log.Events, visit)
	}
	chain, err := f.Sealed.Each(ctx, visit)
	if err != nil {
		return err
	}
	open, _, err := chain.Next(f.Ledger)
	if err != nil {
		return err
	}
	return visitEach(open, visit)
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

// Events reads the whole ledger.
func (f Files) Events(ctx context.Context) ([]history.Event, error) {
	var all []history.Event
	err := f.Each(ctx, func(e history.Event) error {
		all = append(all, e)
		return nil
	})
	return all, err
}

// audited reads the whole ledger without the checkpoint, and says what is wrong with
// the segments and with the checkpoint. Events after a segment that is wrong are
// read as far as they can be.
func (f Files) audited(ctx context.Context) (events []history.Event, broken []string, err error) {
	if f.Sealed == nil {
		log, err := f.Log()
		return opened(log), nil, err
	}
	find := func(format string, args ...any) {
		broken = append(broken, f.Sealed.dir+": "+fmt.Sprintf(format, args...))
	}
	at := &history.Checkpoint{}
	for number := 1; number <= f.Sealed.count; number++ {
		segment, err := f.Sealed.segment(ctx, number)
		if err != nil {
			return nil, nil, err
		}
		if segment == nil {
			find("segment %d: it is not there", number)
			at = at.Skip(nil)
			continue
		}
		body, unreadable := history.ParseOpen(segment)
		next, wrong := at.Extend(segment)
		if wrong != nil {
			find("%s", wrong)
			next = at.Skip(segment)
		}
		if unreadable == nil {
			events = append(events, body.Events...)
		}
		if agrees, err := f.Sealed.shortAgrees(ctx, number, segment); err != nil {
			return nil, nil, err
		} else if !agrees {
			find(condensedForm+": it is not what segment %d gives", number, number)
		}
		at = next
	}
	if wrong := at.CheckOpen(f.Ledger); wrong != nil {
		find("%s", wrong)
	}
	body, err := history.ParseOpen(f.Ledger)
	if err != nil {
		return nil, nil, err
	}
	if len(broken) == 0 {
		_, other := history.DecodeCheckpoint(f.Sealed.stored) // nobody uses one that cannot be read
		if again, err := at.Encode(); err != nil || other == nil && !bytes.Equal(again, f.Sealed.stored) {
			find(checkpointFile + " is not what the segments add up to")
		}
	}
	return append(events, body.Events...), broken, nil
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

// shortAgrees reports whether what is kept at hand of a segment is what it gives.
func (s *Sealed) shortAgrees(ctx context.Context, number int, segment []byte) (bool, error) {
	id := s.condensed[number-1].ID
	if id == "" {
		return true, nil // it is computed where it is needed
	}
	objects, err := s.repo.Cat(ctx, id)
	if err != nil {
		return false, err
	}
	again, err := history.Condense(segment)
	return err == nil && bytes.Equal(again, objects[0].Data), nil
}

// seal seals what is worth it when a run begins: what was a run's own, and what was
// proposed from the records, stays as it was until then.
func (w *writing) seal(current, next Files, files map[string]*git.File) error {
	added, grown := bytes.CutPrefix(next.Ledger, current.Ledger)
	if !grown || !history.Begins(added) {
		return nil
	}
	next.Sealed = current.Sealed
	log, err := next.Log()
	if err != nil {
		return nil //nolint:nilerr // whoever reads it next says so
	}
	s, err := log.Seal()
	if err != nil || s == nil {
		return err
	}
	dir := w.Program + sealedSuffix + "/"
	for i, segment := range s.Segments {
		short, err := history.Condense(segment)
		if err != nil {
			return err
		}
		files[dir+fmt.Sprintf(segmentForm, s.First+i)] = &git.File{Data: segment}
		files[dir+fmt.Sprintf(condensedForm, s.First+i)] = &git.File{Data: short}
	}
	checkpoint, err := s.Checkpoint.Encode()
	if err != nil {
		return err
	}
	files[dir+checkpointFile] = &git.File{Data: checkpoint}
	files[w.Program+ledgerSuffix] = &git.File{Data: s.Open}
	return nil
}

// unseal removes the sealed segments of a program whose ledger is removed.
func (w *writing) unseal(ctx context.Context, head string, current, next Files, files map[string]*git.File) error {
	if current.Sealed == nil || next.Ledger != nil {
		return nil
	}
	entries, err := w.sealedEntries(ctx, head, current.Sealed.dir)
	for _, e := range entries {
		files[current.Sealed.dir+"/"+e.Path] = nil
	}
	return err
}
