package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
)

// record verifies a proposal, finds out whether it has to wait for CI, and writes
// it. A run that writes nothing asks nobody.
func (r *run) record(ctx context.Context, at position, p *Proposal) error {
	err := r.verify(ctx, at, p)
	if err == nil && p.Kept() && p.Kind == forIteration && r.drafted == nil {
		err = r.asksForReview(ctx, at, p)
	}
	if err != nil {
		return err
	}
	err = r.enterProposal(ctx, at, p, nil)
	if p.Kept() && !at.Deleted && errors.Is(err, memory.ErrBranchMoved) && r.deletedByMerge(ctx, at.Branch) {
		at.Deleted = true
		err = r.enterProposal(ctx, at, p, nil)
	}
	if p.Kind == forIteration && at.moves() && refusedForWorkflows(err) {
		at = at.onOwnBase()
		err = r.enterProposal(ctx, at, p, nil)
	}
	if errors.Is(err, memory.ErrBranchMoved) {
		return refuse("somebody else pushed onto %s meanwhile; the next iteration goes on from there",
			r.branch())
	}
	if reason := pushRefusal(err); reason != nil {
		return r.recordRefused(ctx, at, p, *reason)
	}
	if err == nil && r.drafted == nil {
		_ = r.Repo.Maintain(ctx) // what fails is done after a later iteration
	}
	return err
}

// asksForReview refuses a gain that a person who reviews would not see, and lets one wait for CI.
func (r *run) asksForReview(ctx context.Context, at position, p *Proposal) error {
	if pull := r.pull(); pull != nil { // the agent may have worked for long
		if ready, err := r.GitHub.Ready(ctx); err == nil { // else what was heard holds
			pull.Ready = ready
		}
	}
	if reason := r.readyForReview(); reason != "" {
		return refuse("%s", reason)
	}
	if r.promotes(p) && r.ciRequired(ctx, at.Base, at.BaseBranch) {
		p.Decided.Outcome = history.PendingCI
	}
	return nil
}

// promotes reports whether the change is for a pull request: one is open, or the
// branch is then better than the default branch. CI decides over those.
func (r *run) promotes(p *Proposal) bool {
	if pull := r.pull(); pull != nil && pull.Open {
		return true
	}
	sum := r.records.Summary
	for _, e := range p.Baseline { // one that is not recorded yet
		e.Direction = r.Program.Direction
		sum.Add(e)
	}
	return sum.Lead.After(p.Decided, r.Program.Direction).Better()
}

// enterProposal writes a verified proposal: its commit onto the program branch
// and its events, row and history entry onto the memory branch, both or neither. A reason
// pauses the program, unless something else stops it.
func (r *run) enterProposal(ctx context.Context, at position, p *Proposal, pause *decision.Reason) error {
	var branch *git.RefUpdate
	if len(p.Baseline) > 0 && at.moves() {
		branch = at.moveTo(r.ref(), at.PushOnto)
	}
	for _, e := range p.Events() {
		e.Header().Iteration = r.iteration
	}
	message := r.message(p)
	if p.Kept() {
		commit, err := r.commit(ctx, at, p)
		if err != nil {
			return err
		}
		p.Decided.Commit = commit
		branch = at.moveTo(r.ref(), commit)
	}
	switch {
	case p.Checked != nil:
		r.step("record", "fix %d", r.records.Fixes()+1)
	case p.Decided != nil:
		r.step("record", "%s", render.OutcomeOf(p.Decided.Outcome).Word)
	}
	return r.write(ctx, message, branch, func(b *records) error {
		err := r.enter(b, at, p)
		if err == nil && pause != nil && b.stopped == "" {
			b.pause(*pause)
		}
		return err
	})
}

// recordRefused records on the memory branch alone that the remote refused the
// push of a proposal, and pauses: only a person can do something about it, and the
// next agent would work for nothing.
func (r *run) recordRefused(ctx context.Context, at position, p *Proposal, reason decision.Reason,
) error {
	said := reason
	if p.Kept() {
		said = decision.GainNotKept.Because(reason)
	}
	if at.moves() {
		p.Baseline = nil // it is of a commit that the remote does not have
	}
	p.Candidate, p.Files = "", nil
	if e := p.Decided; p.Checked != nil {
		p.FailFix(reason)
	} else if e != nil {
		e.Outcome, e.Verdict, e.Reasons, e.Commit, e.Rule, e.Evidence = history.Error, "", []decision.Reason{said},
			"", nil, nil
	}
	return r.enterProposal(ctx, at, p, &reason)
}

// message is the subject of the memory branch's commit.
func (r *run) message(p *Proposal) string {
	what := "put off"
	switch {
	case p.Postponed != nil:
	case p.Checked != nil:
		what = "a fix for CI"
	case p.Decided == nil:
		return cmp.Or(r.stopped, "nothing was proposed")
	default:
		what = string(p.Decided.Outcome)
	}
	return fmt.Sprintf("iteration %d: %s", r.iteration, what)
}

// commit writes the candidate as a commit on top of the branch.
func (r *run) commit(ctx context.Context, at position, p *Proposal) (string, error) {
	e, onto := p.Decided, at.PushOnto
	subject := ": " + summary(e.Summary, e.Changed)
	if p.Checked != nil {
		onto = at.Branch
		subject = fmt.Sprintf(": fix CI (%d)\n\n%s", r.records.Fixes()+1, summary(p.Checked.Summary, e.Changed))
	}
	message := r.signed("Iteration %d%s\n\nAutoloop-Iteration: %[1]d\nAutoloop-Metric: %[3]s\n", r.iteration, subject,
		e.Best)
	return r.commitOnBase(ctx, at, onto, p.Candidate, message)
}

// enter puts a proposal into the records, with all that follows from it.
func (r *run) enter(b *records, at position, p *Proposal) error {
	if len(p.Baseline) > 0 {
		b.enterBaseline(at, p.Baseline)
	}
	switch {
	case p.Postponed != nil:
		return r.enterPostponed(b, p.Postponed)
	case p.Decided == nil && p.Checked != nil:
		b.add(p.Checked)
		return nil
	case p.Decided == nil:
		return r.enterNothing(b, p)
	}
	decided, err := r.verifyDecision(b, at, p)
	if err != nil {
		return err
	}
	if p.Checked != nil {
		checked := *p.Checked // what it used is in the decision
		checked.Failed, checked.Work, checked.Evaluation = nil, history.Work{Summary: checked.Summary}, nil
		b.add(&checked)
	} else if p.Kept() && b.Initial != nil && !b.Lead.After(&decided, r.Program.Direction).Better() {
		decided.Reasons = append(decided.Reasons, decision.Reason{
			Kind: decision.StaysOnBranch, Path: r.branch(), Term: b.BaseBranch, Beside: b.Initial,
			Value: decided.Best,
		})
	}
	for _, e := range p.Measured {
		b.add(e)
	}
	for _, e := range p.Proposed {
		e.Parent, e.Direction = at.PushOnto, r.Program.Direction
		if e.Proposal == p.Number() {
			e.Outcome = decided.Outcome
		} else {
			b.enterNotes(e.Notes)
		}
		b.add(e)
	}
	r.enterPending(b, decided)
	if p.Checked != nil {
		return nil
	}
	b.enterNotes(p.Decided.Notes) // the deciding one's last
	if decided.Outcome == history.PendingCI {
		r.consumed(b)
	} else {
		r.enterFinished(b, decided)
	}
	return nil
}

// enterPending records a decision, and the commit that it puts on the branch.
func (r *run) enterPending(b *records, decided history.Decided) {
	b.add(&decided)
	if decided.Commit != "" {
		b.add(&history.Pushed{Commit: decided.Commit, Parent: decided.Parent, Branch: r.branch()})
	}
}

// enterFinished ends the iteration of a final decision, and pauses or completes
// the program when the rules say so.
func (r *run) enterFinished(b *records, decided history.Decided) {
	r.consumed(b)
	b.add(&history.Finished{Outcome: decided.Outcome})
	r.consequences(b, decided)
}

// enterNothing ends an iteration without a decision: the baseline completed the
// program or used up its budget.
func (r *run) enterNothing(b *records, p *Proposal) error {
	if b.stopped == "" && len(p.Baseline) > 0 && p.Baseline[0].Evaluation != nil {
		b.stopped = cmp.Or(r.blockedReason(b),
			"budget: the baseline used what the proposing run may cost; propose again")
	}
	if b.stopped == "" {
		return refuse("it decides nothing")
	}
	r.consumed(b)
	b.add(&history.Finished{})
	b.iteration = b.Iteration
	return nil
}

// enterPostponed gives the lease back until the agent's service works again. It
// is no outcome: neither an error nor an iteration.
func (r *run) enterPostponed(b *records, e *history.Finished) error {
	if wait := e.NotBefore.Sub(r.Now()); wait > mostWait {
		return refuse("it is put off until %s, longer than any service asks for", e.NotBefore.UTC())
	}
	if e.Agent == "" || e.Reason == nil || !e.Reason.Is(decision.RateLimit) {
		return refuse("it is put off, and not by the service of an agent")
	}
	postponed := *e
	postponed.Reason = limited(*e.NotBefore, e.Reason.Words)
	postponed.Work = history.Work{Agent: e.Agent, Usage: e.Usage, Durations: e.Durations}
	b.stopped = postponed.Reason.String()
	b.add(&postponed)
	return nil
}

// maxErrors is how many errors in a row pause a program.
const maxErrors = 3

// maxDisagreements is how many iterations in a row may find another incumbent
// than is on record before a new baseline is measured.
const maxDisagreements = 3

// consequences pauses or completes the program when the rules say so after this
// decision.
func (r *run) consequences(b *records, decided history.Decided) {
	b.completeAtTarget()
	errors, plateau := b.ConsecutiveErrors(), r.Program.PlateauFor(decided.Agent)
	switch {
	case b.Completed != nil:
	case errors >= maxErrors:
		last := append(slices.Clip(decided.Reasons), decision.Reason{Kind: decision.Unfinished})[0]
		last.Words = plain.Short(last.Words, maxProblem)
		b.pause(decision.Reason{Kind: decision.ManyErrors, Count: errors, Because: []decision.Reason{last}})
	case plateau > 0 && b.Dropped() >= plateau && !r.Force:
		b.pause(decision.Plateau.Counts(plateau))
	}
}
