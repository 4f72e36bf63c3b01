package loop

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/autoloop/internal/history"
)

// An iteration works with the open segment of the ledger and with what the sealed ones
// add up to. What follows reads more, for those that cannot do without; what is archived
// is its sum for them too.

// short is the whole ledger, condensed as far as it is sealed.
func (b *records) short(ctx context.Context) ([]history.Event, error) {
	if b.read.Sealed == nil {
		return b.log.Events, nil
	}
	if b.sealed == nil {
		sealed, err := b.read.Sealed.Short(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the ledger: %w", err)
		}
		b.sealed = sealed
	}
	return append(slices.Clip(b.sealed), b.log.Events...), nil
}

// past is what the whole ledger adds up to, with every attempt and proposal but
// without the patches of those that are sealed.
func (b *records) past(ctx context.Context) (*history.Summary, error) {
	if b.read.Sealed == nil {
		return &b.sum, nil
	}
	events, err := b.short(ctx)
	past := b.read.Start()
	for _, e := range events {
		past.Add(e)
	}
	return &past, err
}

// having are the events of the whole ledger, condensed as far as it is sealed, that
// have one of the texts in their lines, and those of the open segment.
func (b *records) having(ctx context.Context, texts ...string) ([]history.Event, error) {
	if b.read.Sealed == nil {
		return b.log.Events, nil
	}
	sealed, err := b.read.Sealed.Having(ctx, texts...)
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	return append(sealed, b.log.Events...), nil
}

// shown are the events that people are shown; left is how many of the ledger that leaves
// out.
func (b *records) shown() (events []history.Event, left int, err error) {
	if b.read.Sealed == nil {
		return b.log.Events, 0, nil
	}
	if events, left, err = b.read.Sealed.Shown(); err != nil {
		return nil, 0, fmt.Errorf("read the ledger: %w", err)
	}
	return append(events, b.log.Events...), left, nil
}

// since are the events from a time on, condensed as far as they are sealed, and some
// before it.
func (b *records) since(ctx context.Context, from time.Time, texts ...string) ([]history.Event, error) {
	if b.read.Sealed == nil || len(b.log.Events) > 0 && !b.log.Events[0].Header().Time.After(from) {
		return b.log.Events, nil
	}
	sealed, err := b.read.Sealed.Latest(ctx, func(events []history.Event) bool {
		return len(events) > 0 && !events[0].Header().Time.After(from)
	}, texts...)
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	return append(sealed, b.log.Events...), nil
}

const (
	// mostTrials is how many of the latest iterations the tuner learns from.
	mostTrials = 500
	// mostMembers is how many of the latest proposals that were measured a population
	// has at least, as far as they are in the latest mostSegments.
	mostMembers  = 500
	mostSegments = 64
)

// Beginnings of lines with decisions and with proposals.
const (
	decidedLine  = `"event":"decided"`
	proposedLine = `"event":"proposed"`
)

// trials are the attempts and proposals that the tuner learns from, and how many
// iterations came before them. As many are left out as keeps the last digit of that
// number even.
func (b *records) trials(ctx context.Context) (past *history.Summary, earlier int, err error) {
	if b.read.Sealed == nil {
		return &b.sum, 0, nil
	}
	iterations := map[int]bool{} // one that waited for CI was decided twice
	sealed, err := b.read.Sealed.Latest(ctx, func(events []history.Event) bool {
		for e := range history.Of[*history.Decided](slices.All(events)) {
			iterations[e.Iteration] = true
		}
		return len(iterations) > mostTrials
	}, decidedLine, proposedLine)
	if err != nil {
		return nil, 0, fmt.Errorf("read the ledger: %w", err)
	}
	past = &history.Summary{}
	for _, e := range append(sealed, b.log.Events...) {
		past.Add(e)
	}
	whole := b.sum.Decided()
	if most := mostTrials + whole%2; len(past.Attempts) > most {
		past.Attempts = past.Attempts[len(past.Attempts)-most:]
	}
	return past, whole - len(past.Attempts), nil
}

// proposals are the latest, with their patches.
func (b *records) proposals(ctx context.Context, evaluator string) ([]history.Proposal, error) {
	if b.read.Sealed == nil {
		return b.sum.Proposals, nil
	}
	count, segments := 0, 0
	sealed, err := b.read.Sealed.LatestWhole(ctx, func(events []history.Event) bool {
		segments++
		for e := range history.Of[*history.Proposed](slices.All(events)) {
			if e.Metric != nil && e.Patch != "" && e.Evaluator == evaluator {
				count++
			}
		}
		return count >= mostMembers || segments >= mostSegments
	}, proposedLine)
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	past := history.Summary{}
	for _, e := range append(sealed, b.log.Events...) {
		past.Add(e)
	}
	return past.Proposals, nil
}

// baselineLine is in the lines of baselines.
const baselineLine = `"role":"baseline"`

// tried is what was decided about a change under the present evaluator, by its digest.
func (b *records) tried(ctx context.Context, digest string) (tried history.Tried, found bool, err error) {
	if b.read.Sealed != nil && digest != "" && b.read.Sealed.MayHave(digest) {
		events, err := b.having(ctx, digest, baselineLine)
		if err != nil {
			return tried, false, err
		}
		past := b.read.Start()
		for _, e := range events {
			past.Add(e)
		}
		tried, found = past.Tried[digest]
		return tried, found, nil
	}
	tried, found = b.sum.Tried[digest]
	return tried, found, nil
}

// countExactly makes spent exact where sum knows only whole days.
func (b *records) countExactly(ctx context.Context, since time.Time) error {
	if b.sum.Knows(since) {
		return nil
	}
	past, err := b.past(ctx)
	if err == nil {
		b.more = history.Without(b.sum.Spent(since), past.Spent(since))
	}
	return err
}

// spent is what was used since this process began.
func (b *records) spent(since time.Time) history.Spent {
	return history.Without(b.sum.Spent(since), b.more)
}
