package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
)

// proposeFix asks the agent to fix what CI found, and measures the result against
// the incumbent like any other candidate.
func (r *proposer) proposeFix(ctx context.Context, e history.Decided, verdict ci.Result, left time.Duration) (position,
	*proposal.Proposal, error,
) {
	number := r.records.standing().Fixes() + 1
	r.step("fix", fmt.Sprintf("attempt %d of %d: %s", number, maxFixes, verdict.Signature()))
	at, err := r.branches.positionOf(ctx, e)
	if err != nil {
		return at, nil, err
	}
	r.branches.synced = at
	a, err := r.team.attemptFix(ctx, at, verdict, left)
	if err != nil {
		return at, nil, err
	}
	a.Evaluation = r.takeExpense()
	p := r.newProposal(proposal.Fix, at)
	if until, ok := r.postponedUntil(a); ok {
		p.Postponed = r.team.postponed(a, until)
		return at, p, nil
	}
	p.Checked = &history.Checked{
		Head: history.Head{Iteration: e.Iteration}, Signature: verdict.Signature(), Reasons: found(verdict),
	}
	if a.Outcome != history.Accepted {
		p.Checked.Failed = &a.Reasons[0]
		p.Checked.Agent, p.Checked.Usage, p.Checked.Durations, p.Checked.Evaluation = r.team.nameOf(a), a.totalUsage(),
			a.totalDurations(), a.Evaluation
		return at, p, nil
	}
	r.describe(p, at, a)
	p.Checked.Summary = a.reply.Summary
	p.Measured = slices.DeleteFunc(p.Measured, func(e history.Event) bool { _, is := e.(*history.Proposed); return is })
	p.Decided.Outcome = history.PendingCI
	p.Decided.Reasons = append(p.Decided.Reasons,
		decision.Reason{Kind: decision.FixesCI, Count: number, Words: summary(a.reply.Summary, a.Changed)})
	return at, p, nil
}

// attemptFix is one attempt that begins with the candidate's files and is told
// what CI said. Running out of its time is its failure, not an error.
func (r *team) attemptFix(ctx context.Context, at position, verdict ci.Result, left time.Duration) (*attempt, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, left, errTooLong)
	defer cancel()
	a := newAttempt(r.Agents[0], 1, 1)
	a.lineage.from, a.failure = at.From, verdict.Report()
	err := r.try(bounded, at, []*attempt{a})
	if errors.Is(context.Cause(bounded), errTooLong) && ctx.Err() == nil {
		return a.end(history.Error, decision.Reason{Kind: decision.TimeUp}), nil
	}
	if files.Full(err) && ctx.Err() == nil {
		return a.end(history.Error, diskFull(err)), nil
	}
	return a, err
}
