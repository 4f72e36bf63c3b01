package loop

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/plain"
)

// newProposal is a proposal of this run with nothing in it yet.
func (r *run) newProposal(kind Purpose, at position) *Proposal {
	return &Proposal{Manifest: Manifest{
		Kind: kind, Repository: r.Repository, Program: r.Program.Name, Iteration: r.iteration, Run: r.id,
		BaseBranch: at.BaseBranch, Base: at.Base, Branch: at.Branch,
	}}
}

// propose makes the proposal of an iteration: sync, baseline, agents, guard and
// trial, within the iteration's time. It writes nothing but the baseline. The
// error is a conflict when the default branch does not merge.
func (r *run) propose(ctx context.Context) (position, *Proposal, error) {
	at, all, err := r.work(ctx)
	p := r.newProposal(forIteration, at)
	if reason := r.unfinished(ctx, err); reason != nil {
		all, err = r.interrupted(*reason), nil
	}
	if err == nil && all != nil {
		r.describe(p, at, all)
	}
	return at, p, err
}

// describe puts attempts into the proposal: what was decided, or until when nobody serves.
func (r *run) describe(p *Proposal, at position, all []*attempt) {
	last := all[len(all)-1]
	last.Evaluation = r.takeExpense()
	work := together(all)
	if until, ok := r.postponedUntil(all); ok {
		p.Postponed = &history.Finished{
			Evaluation: last.Evaluation, NotBefore: &until, Reason: limited(until, last.reply.Failure.Message),
			Work: work,
		}
		return
	}
	for _, a := range all {
		a.Evaluator, a.Definition = at.Evaluator, at.Definition
		if a.Metric == nil {
			a.Patch = ""
		}
		for _, e := range a.measured {
			if a.of > 1 {
				e.Proposal = a.Proposal
			}
			p.Measured = append(p.Measured, e)
		}
		if a.of > 1 || r.Strategy.Evolves && a.agent != nil {
			p.Proposed = append(p.Proposed, &a.Proposed)
		}
	}
	decided := last.Decided
	decided.Executor, decided.Work = at.Executor, work
	if last.of < 2 {
		decided.Proposal = 0 // it is the only one
	}
	p.Decided, r.transcript = &decided, last.reply.Transcript
	if last.Outcome == history.Accepted {
		p.Candidate = last.tree
	}
}

// unfinished is why the work of an iteration ended before its time, nil for another error
// and for none. That the unchanged files cannot be measured is noted.
func (r *run) unfinished(ctx context.Context, err error) *decision.Reason {
	if end, is := endOf(err); is && end.outcome == history.Error && !end.conflict {
		if end.baseline {
			r.baselineError = end.Error()
		}
		return &end.reasons[0]
	}
	reason := decision.Reason{}
	share, shared := errors.AsType[*tree.ShareError](err)
	switch {
	case ctx.Err() != nil:
		return nil
	case shared:
		r.baselineError = share.Error()
		reason = decision.Say(r.baselineError)
	case errors.Is(err, errTooLong):
		reason = r.tooLong()
	case files.Full(err): // The trees, which filled it or were to be built, are gone by now.
		reason = decision.DiskFull.Says(plain.Short(err.Error(), 300))
	default:
		return nil
	}
	return &reason
}

// errTooLong ends the work of an iteration whose time is up.
var errTooLong = errors.New("the time of the iteration is up")

// work is everything up to the trial, within the iteration's time: the lease
// outlives it. There is no attempt when nothing is left to do.
func (r *run) work(ctx context.Context) (position, []*attempt, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.time(), errTooLong)
	defer cancel()
	r.step("sync", "")
	at, err := r.sync(ctx)
	if err != nil {
		return at, nil, err
	}
	if r.refusal != "" {
		return at, nil, ends(history.Error, decision.Say(r.refusal))
	}
	if err := r.ensureBaseline(ctx, &at); err != nil || r.stopped != "" {
		return at, nil, err
	}
	if r.stopped = r.usedUp(); r.stopped != "" {
		return at, nil, nil
	}
	if problem := r.exceedsTimeLimit(r.records.Seconds, r.records.Prepare); r.Suite == nil &&
		r.rule().Regime == decision.Noisy && problem != nil {
		return at, nil, unmeasured(*problem)
	}
	r.commentsTold = true
	all, err := r.attempt(ctx, at)
	return at, all, err
}

// proposeFix asks the agent to fix what CI found, and measures the result against
// the incumbent like any other candidate.
func (r *run) proposeFix(ctx context.Context, w *waiting, left time.Duration) (position, *Proposal, error) {
	number := r.records.Fixes() + 1
	r.step("fix", "attempt %d of %d: %s", number, maxFixes, w.ci.Signature())
	at, err := r.positionOf(ctx, w.e)
	if err != nil {
		return at, nil, err
	}
	a, err := r.attemptFix(ctx, at, w.ci.Report(), left)
	if err != nil {
		return at, nil, err
	}
	p := r.newProposal(forFix, at)
	if r.describe(p, at, []*attempt{a}); p.Postponed != nil {
		return at, p, nil
	}
	p.Checked = &history.Checked{}
	if a.Outcome != history.Accepted {
		p.FailFix(a.Reasons[0])
		return at, p, nil
	}
	p.Checked.Summary = a.reply.Summary
	p.Proposed = nil
	p.Decided.Outcome = history.PendingCI
	return at, p, nil
}

// attemptFix is one attempt that begins with the candidate's files and is told
// what CI said. Running out of its time is its failure, not an error.
func (r *run) attemptFix(ctx context.Context, at position, failure string, left time.Duration) (*attempt, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, left, errTooLong)
	defer cancel()
	a := r.newAttempt(1, 1)
	a.from, a.failure = at.Start, failure
	err := r.try(bounded, at, []*attempt{a})
	if reason := r.unfinished(ctx, cmp.Or(context.Cause(bounded), err)); reason != nil {
		return a.end(history.Error, *reason), nil
	}
	return a, err
}
