package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
)

// audited hands the whole ledger over to an audit, segment by segment and without the
// checkpoint, and says what is wrong with the segments and with what is derived from
// them. Events after a segment that is wrong are read as far as they can be. Archives
// are the files that have what was archived; without them the audit begins after it.
type audited struct {
	Files
	auditor  *audit.Auditor
	archives []string

	broken []string
	bases  bases
}

// bases are the default branch that the events name, and its commit at the first
// baseline.
type bases struct{ branch, first string }

func (b *bases) see(events []history.Event) {
	for _, event := range events {
		if e, is := event.(*history.Measured); is && e.Role == history.Baseline && e.BaseBranch != "" {
			if b.branch == "" {
				b.first = e.Commit
			}
			b.branch = e.BaseBranch
		}
	}
}

func (a *audited) add(events []history.Event) {
	a.bases.see(events)
	a.auditor.Add(events)
}

func (a *audited) find(format string, args ...any) {
	a.broken = append(a.broken, a.Sealed.dir+": "+fmt.Sprintf(format, args...))
}

func (a *audited) read(ctx context.Context) error {
	if a.Sealed == nil {
		log, err := a.Log()
		if err == nil {
			a.add(log.Events)
		}
		return err
	}
	at, err := a.archived()
	if err != nil {
		return err
	}
	for number := a.Sealed.archived() + 1; number <= a.Sealed.count; number++ {
		if at, err = a.segment(ctx, at, number); err != nil {
			return err
		}
	}
	if wrong := at.CheckOpen(a.Ledger); wrong != nil {
		a.find("%s", wrong)
	}
	open, err := history.ParseOpen(a.Ledger)
	if err != nil {
		return err
	}
	a.add(open.Events)
	if len(a.broken) == 0 {
		_, other := history.DecodeCheckpoint(a.Sealed.stored) // nobody uses one that cannot be read
		if again, err := at.Encode(); err != nil || other == nil && !bytes.Equal(again, a.Sealed.stored) {
			a.find(checkpointFile + " is not what the segments add up to")
		}
	}
	return a.sealing()
}

// segment reads one sealed segment, and returns what it adds up to with those before.
func (a *audited) segment(ctx context.Context, at *history.Checkpoint, number int) (*history.Checkpoint, error) {
	segment, err := a.Sealed.segment(ctx, number)
	if err != nil {
		return nil, err
	}
	if segment == nil {
		a.find("segment %d: it is not there", number)
		return at.Skip(nil), nil
	}
	body, unreadable := history.ParseOpen(segment)
	if _, ok := errors.AsType[*history.NewerError](unreadable); ok {
		return nil, fmt.Errorf("segment %d: %w", number, unreadable)
	}
	next, wrong := at.Extend(segment)
	if wrong != nil {
		a.find("%s", wrong)
		next = at.Skip(segment)
	}
	if unreadable == nil {
		a.add(body.Events)
	}
	if agrees, err := a.Sealed.shortAgrees(ctx, number, segment); err != nil {
		return nil, err
	} else if !agrees {
		a.find(condensedForm+": it is not what segment %d gives", number, number)
	}
	return next, nil
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
