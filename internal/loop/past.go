package loop

import (
	"context"
	"fmt"
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
	return append(b.sealed[:len(b.sealed):len(b.sealed)], b.log.Events...), nil
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

// proposals are those of the whole ledger, with their patches.
func (b *records) proposals(ctx context.Context) ([]history.Proposal, error) {
	if b.read.Sealed == nil {
		return b.sum.Proposals, nil
	}
	past := b.read.Start()
	_, err := b.read.Sealed.Segments(ctx, func(events []history.Event) error {
		for _, e := range events {
			past.Add(e)
		}
		return nil
	})
	for _, e := range b.log.Events {
		past.Add(e)
	}
	return past.Proposals, err
}

// tried is what was decided about a change under the present evaluator, by its digest.
func (b *records) tried(ctx context.Context, digest string) (tried history.Tried, found bool, err error) {
	if b.read.Sealed != nil && digest != "" && b.read.Sealed.MayHave(digest) {
		past, err := b.past(ctx)
		if err != nil {
			return tried, false, err
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
