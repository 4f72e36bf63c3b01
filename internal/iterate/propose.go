package iterate

import (
	"bytes"
	"context"

	"github.com/org/autoloop/internal/bundle"
	"github.com/org/autoloop/internal/ledger"
	"github.com/org/autoloop/internal/store"
)

// Propose runs one iteration and records nothing: neither a lease nor an event
// is written. The bundle is for Publish; it is nil when there is nothing that
// another job could record, and the result says why.
func (s *Service) Propose(ctx context.Context) (*bundle.Bundle, Result, error) {
	own := *s
	own.DryRun, own.Front = true, nil
	run := own.begin()
	run.proposing = true
	result, err := run.through(ctx, run.iterate)
	if err != nil || run.at.Head == "" {
		return nil, result, err
	}
	packed, err := run.pack(ctx)
	return packed, result, err
}

// booksDigest identifies the three files of a program.
func booksDigest(files store.Files) string {
	return bundle.Digest(files.State, files.Results, files.Ledger)
}

// pack makes a bundle of what the run added to its own copy of the books; nil
// when that is nothing.
func (r *run) pack(ctx context.Context) (*bundle.Bundle, error) {
	events, decided, err := r.handedOn()
	if err != nil || events == nil {
		return nil, err
	}
	b := &bundle.Bundle{
		Manifest: bundle.Manifest{
			Program: r.Program.Name, Iteration: r.iteration, BaseBranch: r.at.BaseBranch, Base: r.at.Base, Branch: r.at.Old,
			Memory: r.foundAt, Books: booksDigest(r.found),
		},
		Events: events,
	}
	if b.Incumbent, err = r.treeOf(ctx, r.at.Head); err != nil || decided == nil || decided.Commit == "" {
		return b, err
	}
	if b.Candidate, err = r.treeOf(ctx, decided.Commit); err != nil {
		return nil, err
	}
	b.Patch, err = r.Repo.Diff(ctx, b.Incumbent, b.Candidate)
	return b, err
}

// handedOn renders what was measured and decided. The rest of what the run
// noted follows from it.
func (r *run) handedOn() (lines []byte, decided *ledger.Event, err error) {
	before, err := ledger.Parse(r.found.Ledger)
	if err != nil {
		return nil, nil, err
	}
	var text bytes.Buffer
	for _, e := range r.books.log.Events[len(before.Events):] {
		switch e.Kind {
		case ledger.Decided:
			decided = &e
		case ledger.Measured, ledger.Proposed:
		default:
			continue
		}
		line, err := e.Line()
		if err != nil {
			return nil, nil, err
		}
		text.Write(line)
	}
	return text.Bytes(), decided, nil
}

func (r *run) treeOf(ctx context.Context, rev string) (string, error) {
	commit, err := r.Repo.ReadCommit(ctx, rev)
	return commit.Tree, err
}
