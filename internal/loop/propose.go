package loop

import (
	"bytes"
	"context"
	"fmt"

	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
)

// Propose runs one iteration, or one attempt to mend what CI found, and records
// nothing: neither a lease nor an event is written, and nothing on GitHub. The
// bundle is for Publish; it is nil when there is nothing that another job could
// do, and the result says why.
func (s *Service) Propose(ctx context.Context) (*proposal.Bundle, Result, error) {
	own := *s
	own.DryRun = true
	run := own.begin()
	run.proposing = true
	result, err := run.through(ctx, run.iterate)
	if err != nil || run.offer == "" {
		return nil, result, err
	}
	packed, err := run.pack(ctx)
	return packed, result, err
}

// lookAtComments finds out what was said, and obeys none of it. It says what comes
// before an iteration and is for the publishing job to do, "" for nothing.
func (r *run) lookAtComments(ctx context.Context) (string, error) {
	heard, err := r.GitHub.Look(ctx, r.account())
	if err != nil {
		r.warn("the issue and the pull request were not read: %v", err)
		return "", ctx.Err()
	}
	r.comments = &heard
	return r.firstOf(r.records), nil
}

// leave ends a proposal with nothing but what the publishing job does by itself.
func (r *run) leave(reason string) (Result, error) {
	r.offer = proposal.Chores
	if e := r.records.pending(); e != nil {
		r.iteration = e.Iteration
	}
	return r.result(history.Idle, reason+"; `iterate publish` does that"), nil
}

// offerFix lets an agent mend what CI found, when it is an agent's turn.
func (r *run) offerFix(ctx context.Context) (Result, error) {
	e := *r.records.pending()
	r.iteration = e.Iteration
	r.step("ci", fmt.Sprintf("commit %.12s", e.Commit))
	head, err := r.Memory.HeadOf(ctx, r.ref())
	if err != nil {
		return Result{}, err
	}
	verdict := r.verdict(ctx, e)
	left := r.time() - r.Now().Sub(r.begun)
	if !r.isRed(e, verdict) || head != e.Commit || r.fixesExhausted(e, verdict.Signature()) != "" || r.blockedReason(r.records) != "" || left <= 0 {
		return r.leave(fmt.Sprintf("iteration %d waits for CI, whose answer is to be taken", e.Iteration))
	}
	r.step("fix", fmt.Sprintf("attempt %d of %d: %s", r.records.fixes(e.Iteration)+1, maxFixes, verdict.Signature()))
	r.offer = proposal.Fix
	a, err := r.fix(ctx, e, verdict, left)
	if err != nil {
		return Result{}, err
	}
	if until, ok := r.postponedUntil(a); ok {
		return r.postpone(ctx, a, until)
	}
	return r.resultOf(*r.records.pending(), a.reasons), nil
}

// isRed says whether it is known that CI turned the pending commit down: also when
// a part of it failed and the rest did not end in time.
func (r *run) isRed(e history.Event, verdict ci.Verdict) bool {
	return verdict.State == ci.Red || len(verdict.Failing) > 0 && r.Now().Sub(r.pushedAt(e)) >= r.Program.CIWait
}

// pack makes a bundle of what the run added to its own copy of the books.
func (r *run) pack(ctx context.Context) (*proposal.Bundle, error) {
	b := &proposal.Bundle{Manifest: proposal.Manifest{
		Kind: r.offer, Repository: r.Repository, Program: r.Program.Name, Iteration: r.iteration, Run: r.id,
		BaseBranch: r.at.BaseBranch, Base: r.at.Base, Branch: r.at.Old, Memory: r.foundAt, Books: recordsDigest(r.found),
	}}
	if r.comments != nil {
		b.Heard, b.Told = r.comments.Until, r.agentWasTold
	}
	if r.offer == proposal.Chores {
		b.Told = false
		return b, nil
	}
	events, decided, err := r.handedOn()
	if err != nil || events == nil {
		return nil, err
	}
	from := r.at.Head
	if r.offer == proposal.Fix {
		e := r.fixing
		from, b.Iteration, b.Told = e.Commit, e.Iteration, false
		b.BaseBranch, b.Base, b.Branch = r.records.sum.BaseBranch, r.records.sum.Base, e.Commit
	}
	b.Events = events
	if b.Incumbent, err = r.treeOf(ctx, from); err != nil || decided == nil || decided.Commit == "" {
		return b, err
	}
	if b.Candidate, err = r.treeOf(ctx, decided.Commit); err != nil {
		return nil, err
	}
	b.Patch, err = r.Repo.Diff(ctx, b.Incumbent, b.Candidate)
	return b, err
}

// handedOn renders what was measured and decided, and until when the agent's
// service put it off. The rest of what the run noted follows from it.
func (r *run) handedOn() (lines []byte, decided *history.Event, err error) {
	before, err := history.Parse(r.found.Ledger)
	if err != nil {
		return nil, nil, err
	}
	var text bytes.Buffer
	for _, e := range r.records.log.Events[len(before.Events):] {
		switch {
		case e.Kind == history.Decided:
			decided = &e
		case e.Kind == history.Measured, e.Kind == history.Proposed, e.Kind == history.Checked, e.Kind == history.Finished && e.NotBefore != nil:
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
