package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/loop/proposal"
)

// Propose runs one iteration, or one attempt to fix what CI found, and records
// nothing: it writes no lease, no event, and nothing on GitHub. The bundle is for
// Publish; it is nil when there is nothing for another job to do, and the result
// says why.
func (s *Service) Propose(ctx context.Context) (*proposal.Bundle, Result, error) {
	run := s.begin()
	run.draft()
	var made *proposal.Proposal
	result, err := run.through(ctx, func(ctx context.Context) (result Result, err error) {
		made, result, err = run.proposeOnly(ctx)
		var conflict *conflictError
		if errors.As(err, &conflict) {
			made, result = run.leave(conflict.Error())
			err = nil
		}
		return result, err
	})
	if err != nil || made == nil {
		return nil, result, err
	}
	packed, err := run.pack(ctx, made)
	return packed, result, err
}

// DryRun goes as far as the decision and writes nothing, here or on GitHub.
func (s *Service) DryRun(ctx context.Context) (Result, error) {
	own := *s
	own.GitHub = nil
	run := own.begin()
	run.draft()
	return run.through(ctx, func(ctx context.Context) (Result, error) {
		_, result, err := run.proposeOnly(ctx)
		var conflict *conflictError
		if errors.As(err, &conflict) {
			result, err = run.result(history.Error, conflict.Error()), nil
		}
		if result.Outcome != history.Idle {
			result.Outcome = history.DryRun
		}
		return result, err
	})
}

// proposeOnly makes a proposal and records it in the draft alone. There is no
// proposal when the run ended before it had anything to hand on.
func (r *run) proposeOnly(ctx context.Context) (*proposal.Proposal, Result, error) {
	if err := r.lease.acquireLease(ctx); isResting(err) {
		return r.proposeResumption(ctx, err)
	} else if err != nil {
		return nil, Result{}, err
	}
	if e := r.records.standing().Waiting(); e != nil && r.thread.github == nil {
		r.stopped = fmt.Sprintf("iteration %d waits for CI, which needs --repo and a token", e.Iteration)
		return nil, Result{}, &blockedError{reason: r.stopped}
	}
	first, err := r.thread.lookAtComments(ctx)
	if err != nil {
		return nil, Result{}, err
	}
	if first != "" {
		p, result := r.leave(first)
		return p, result, nil
	}
	if r.thread.waitsForCI(r.records) {
		return r.proposeForCI(ctx)
	}
	at, p, err := r.proposer.propose(ctx)
	if err != nil {
		return nil, Result{}, err
	}
	result, err := r.preview(ctx, at, p)
	if at.Head == "" {
		p = nil // it ended before the position was known, which a bundle has to name
	}
	return p, result, err
}

// proposeResumption hands on that a comment asks to end a pause; without one the
// program stays as it is.
func (r *run) proposeResumption(ctx context.Context, blocked error) (*proposal.Proposal, Result, error) {
	first, err := r.thread.lookAtComments(ctx)
	if err != nil {
		return nil, Result{}, err
	}
	if first == "" {
		return nil, Result{}, blocked
	}
	r.stopped = ""
	p, result := r.leave(first)
	return p, result, nil
}

// preview verifies a proposal and records it in the draft, to find out what
// follows from it.
func (r *run) preview(ctx context.Context, at position, p *proposal.Proposal) (Result, error) {
	if err := r.verifier.verify(ctx, at, p); err != nil {
		return Result{}, err
	}
	if err := r.recorder.enterProposal(ctx, at, p, r.holdsLease); err != nil {
		return Result{}, err
	}
	result := r.recorder.resultOf(p)
	result.Commit = nil
	return result, nil
}

// leave makes a proposal of work that only the publishing job may do.
func (r *run) leave(reason string) (*proposal.Proposal, Result) {
	if e := r.records.standing().Waiting(); e != nil {
		r.iteration = e.Iteration
	}
	return r.proposer.newProposal(proposal.Chores, r.branches.synced), r.result(history.Idle, reason+"; `iterate publish` does that")
}

// proposeForCI lets an agent fix what CI found, when it is an agent's turn.
func (r *run) proposeForCI(ctx context.Context) (*proposal.Proposal, Result, error) {
	standing := r.records.standing()
	e := *standing.Decision
	r.iteration = e.Iteration
	r.step("ci", fmt.Sprintf("commit %.12s", e.Commit))
	head, err := r.memory.HeadOf(ctx, r.ref())
	if err != nil {
		return nil, Result{}, err
	}
	verdict := r.gate.verdict(ctx, e)
	left := r.spending.time() - r.now().Sub(r.begun)
	if !r.gate.isRed(standing, verdict) || head != e.Commit || fixesExhausted(standing, verdict.Signature()) != "" || r.spending.blockedReason(r.records) != "" || left <= 0 {
		p, result := r.leave(fmt.Sprintf("iteration %d waits for CI, whose answer is to be taken", e.Iteration))
		return p, result, nil
	}
	at, p, err := r.proposer.proposeFix(ctx, e, verdict, left)
	if err != nil {
		return nil, Result{}, err
	}
	if err := r.recorder.recordFix(ctx, at, e, verdict, p, r.holdsLease); err != nil {
		return nil, Result{}, err
	}
	if p.Postponed != nil {
		return p, r.result(history.Idle, r.stopped), nil
	}
	return p, r.recorder.resultOfCI(*r.records.standing().Decision, p.Checked.Reasons), nil
}

// isRed reports whether CI is known to have failed for the pending commit: also
// when a part of it failed and the rest did not end in time.
func (r *ciGate) isRed(s history.Standing, verdict ci.Verdict) bool {
	return verdict.State == ci.Red || len(verdict.Failing) > 0 && r.now().Sub(s.PushedAt) >= r.program.CIWait
}

// proposer makes proposals. It needs no right to write: what it records is a
// baseline, which a draft takes as well.
type proposer struct {
	*journal
	branches       *branches
	measurer       *measurer
	team           *team
	spending       *spending
	thread         *thread
	baselineEvents []history.Event // the baseline that this run measured
}

// newProposal is a proposal of this run with nothing in it yet.
func (r *proposer) newProposal(kind proposal.Kind, at position) *proposal.Proposal {
	return &proposal.Proposal{Manifest: proposal.Manifest{
		Kind: kind, Repository: r.repository, Program: r.program.Name, Iteration: r.iteration, Run: r.id,
		BaseBranch: at.BaseBranch, Base: at.Base, Branch: r.branches.synced.Old,
	}}
}

// propose makes the proposal of an iteration: sync, baseline, agents, guard and
// trial, within the iteration's time. It writes nothing but the baseline. The
// error is a *conflictError when the default branch does not merge.
func (r *proposer) propose(ctx context.Context) (position, *proposal.Proposal, error) {
	at, a, err := r.work(ctx)
	p := r.newProposal(proposal.Iteration, at)
	var baseline *baselineError
	switch {
	case errors.As(err, &baseline):
		r.describeFailure(p, at, baseline.Error())
		return at, p, nil
	case errors.Is(err, errTooLong) && ctx.Err() == nil:
		r.describeFailure(p, at, r.spending.tooLong())
		return at, p, nil
	case err != nil || a == nil:
		return at, p, err
	}
	a.evaluation = r.spending.takeExpense()
	if until, ok := r.spending.postponedUntil(a); ok {
		p.Postponed = r.team.postponed(a, until)
		return at, p, nil
	}
	r.describe(p, at, a)
	return at, p, nil
}

// describe puts an attempt into the proposal.
func (r *proposer) describe(p *proposal.Proposal, at position, a *attempt) {
	p.Measured, p.Transcript = r.team.measuredEvents(at, a), a.reply.Transcript
	decided := r.team.decidedEvent(at, a)
	p.Decided = &decided
	if a.outcome == history.Accepted {
		p.Candidate = a.tree
	}
}

// describeFailure makes the proposal of an iteration that could not be finished.
func (r *proposer) describeFailure(p *proposal.Proposal, at position, reason string) {
	r.describe(p, at, r.team.interruptedAttempt(reason))
}

// errTooLong ends the work of an iteration whose time is up.
var errTooLong = errors.New("the time of the iteration is up")

// work is everything up to the trial, within the iteration's time: the lease
// outlives it. There is no attempt when nothing is left to do.
func (r *proposer) work(ctx context.Context) (position, *attempt, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.spending.time(), errTooLong)
	defer cancel()
	r.step("sync", "")
	at, err := r.branches.sync(ctx)
	r.branches.synced = at
	if err != nil {
		return at, nil, err
	}
	if err := r.ensureBaseline(ctx, &at); err != nil || r.stopped != "" {
		return at, nil, err
	}
	if r.stopped = r.spending.usedUp(); r.stopped != "" {
		return at, nil, nil
	}
	if problem := r.exceedsTimeLimit(r.records.sum.Seconds, r.records.sum.Prepare); r.measurer.suite == nil && r.rule().Regime == decision.Noisy && problem != "" {
		return at, nil, &baselineError{problem}
	}
	r.thread.shown = commentsTold
	attempt, err := r.team.attempt(ctx, at)
	return at, attempt, err
}

// proposeFix asks the agent to fix what CI found, and measures the result against
// the incumbent like any other candidate.
func (r *proposer) proposeFix(ctx context.Context, e history.Event, verdict ci.Verdict, left time.Duration) (position, *proposal.Proposal, error) {
	number := r.records.standing().Fixes() + 1
	r.step("fix", fmt.Sprintf("attempt %d of %d: %s", number, maxFixes, verdict.Signature()))
	at, err := r.branches.positionOf(ctx, e)
	if err != nil {
		return at, nil, err
	}
	a, err := r.team.attemptFix(ctx, at, e, verdict, left)
	if err != nil {
		return at, nil, err
	}
	a.evaluation = r.spending.takeExpense()
	p := r.newProposal(proposal.Fix, at)
	p.Iteration, p.Branch = e.Iteration, e.Commit
	if until, ok := r.spending.postponedUntil(a); ok {
		p.Postponed = r.team.postponed(a, until)
		return at, p, nil
	}
	p.Checked = &history.Event{Kind: history.Checked, Iteration: e.Iteration, Commit: e.Commit, Reason: verdict.Signature(), Reasons: verdict.Words()}
	if a.outcome != history.Accepted {
		p.Checked.Problem = state.Inline(a.reasons[0], maxProblem)
		p.Checked.Agent, p.Checked.Usage, p.Checked.Durations, p.Checked.Evaluation = r.team.nameOf(a), a.totalUsage(), a.totalDurations(), a.evaluation
		return at, p, nil
	}
	r.describe(p, at, a)
	p.Measured, p.Checked.Summary = a.measured, a.reply.Summary
	p.Decided.Outcome, p.Decided.Summary, p.Decided.Proposal = history.PendingCI, e.Summary, 0
	p.Decided.Reasons = append(p.Decided.Reasons, fmt.Sprintf("CI fix %d: %s", number, summary(a.reply.Summary, a.changed)))
	return at, p, nil
}

// attemptFix is one attempt that begins with the candidate's files and is told
// what CI said. Running out of its time is its failure, not an error.
func (r *team) attemptFix(ctx context.Context, at position, e history.Event, verdict ci.Verdict, left time.Duration) (*attempt, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, left, errTooLong)
	defer cancel()
	a := &attempt{number: 1, of: 1, agent: r.lead().Agent, model: r.lead().Model, durations: map[string]float64{}, lineage: lineage{from: e.Commit}, failure: verdict.Report()}
	err := r.attemptOne(bounded, at, a)
	if errors.Is(context.Cause(bounded), errTooLong) && ctx.Err() == nil {
		return a.end(history.Error, "the time of the iteration is up"), nil
	}
	return a, err
}

// attemptOne takes one attempt through all stages.
func (r *team) attemptOne(ctx context.Context, at position, a *attempt) error {
	all := []*attempt{a}
	defer func() {
		if a.proposed != nil {
			_ = a.proposed.Remove()
		}
	}()
	if err := r.ask(ctx, at, all); err != nil {
		return err
	}
	if err := r.consider(ctx, at, a, map[string]int{}); err != nil {
		return err
	}
	return r.measureAll(ctx, at, all)
}

// measuredEvents are the measurements of all attempts, and an event for each
// attempt when there were several; those of the deciding one come last.
func (r *team) measuredEvents(at position, a *attempt) []history.Event {
	var events []history.Event
	for _, one := range a.all() {
		for _, measured := range one.measured {
			if one.of > 1 {
				measured.Proposal = one.number
			}
			events = append(events, measured)
		}
		if one.of < 2 && (!r.strategy().Evolves || one.agent == nil) {
			continue
		}
		events = append(events, r.proposedEvent(at, one))
	}
	return events
}

// decidedEvent is the decision on an attempt.
func (r *team) decidedEvent(at position, a *attempt) history.Event {
	sum := &r.records.sum
	e := history.Event{
		Kind: history.Decided, Iteration: r.iteration, Outcome: a.outcome, Reasons: a.reasons, PreviousBest: sum.Best, Best: sum.Best,
		Parent: at.Head, Agent: r.nameOf(a), Model: r.modelOf(a), Summary: a.reply.Summary,
		Changed: atMost(a.changed, maxChanged), Params: a.reply.Params, Durations: a.totalDurations(), Digest: a.digest, Focus: a.focus, Direction: r.program.Direction,
		Target: r.target(r.records), Evaluator: at.identity.Evaluator, Definition: at.identity.Definition, Usage: a.totalUsage(),
	}
	e.Noisy, e.Rule, e.Seed, e.Evaluation = a.noisy, a.rule, a.seed, a.evaluation
	if a.of > 1 {
		e.Proposal = a.number
	}
	e.Lessons, e.Foreclosed, e.Ideas = a.notes.Lessons, a.notes.Foreclosed, a.notes.Ideas
	if a.verdict != nil {
		d := &a.decision
		e.Verdict, e.Metric, e.PreviousBest, e.Best, e.Delta = string(d.Verdict), d.Metric, d.Previous, d.Best, d.Delta
		e.Evidence, e.Warning = history.EvidenceOf(d.Evidence), d.Warning
	}
	return e
}

// maxChanged is how many changed paths an event names.
const maxChanged = 100

func atMost(list []string, most int) []string { return list[:min(len(list), most)] }

// postponed says until when the agent's service refuses to work.
func (r *team) postponed(a *attempt, until time.Time) *history.Event {
	return &history.Event{
		Kind: history.Finished, Iteration: r.iteration, Agent: r.nameOf(a), Usage: a.totalUsage(), Durations: a.totalDurations(), Evaluation: a.evaluation,
		NotBefore: &until, Reason: limited(until, a.reply.Failure.Message),
	}
}

// pack makes the bundle of a proposal.
func (r *run) pack(ctx context.Context, p *proposal.Proposal) (*proposal.Bundle, error) {
	p.Memory, p.Books, p.Baseline = r.drafted.head, recordsDigest(r.drafted.found), r.proposer.baselineEvents
	if r.thread.comments != nil {
		p.Heard, p.Told = r.thread.comments.Until, r.thread.shown == commentsTold && p.Kind == proposal.Iteration
	}
	if p.Kind != proposal.Chores {
		if len(p.Events()) == 0 {
			return nil, nil //nolint:nilnil // there is nothing to hand on
		}
		from := r.branches.synced.Head
		if p.Kind == proposal.Fix {
			from = p.Branch
		}
		var err error
		if p.Incumbent, err = r.branches.treeOf(ctx, from); err != nil {
			return nil, err
		}
		if p.Candidate != "" {
			if p.Patch, err = r.repo.Diff(ctx, p.Incumbent, p.Candidate); err != nil {
				return nil, err
			}
		}
	} else {
		p.Baseline = nil
	}
	now := r.now()
	for _, list := range [][]history.Event{p.Baseline, p.Measured} {
		for i := range list {
			list[i].Time = now
		}
	}
	for _, e := range []*history.Event{p.Checked, p.Decided, p.Postponed} {
		if e != nil {
			e.Time = now
		}
	}
	bundle, err := p.Bundle()
	return &bundle, err
}

func (r *branches) treeOf(ctx context.Context, rev string) (string, error) {
	commit, err := r.repo.ReadCommit(ctx, rev)
	return commit.Tree, err
}

// recorded stands for the agent of a proposal that another job made.
type recorded struct{ name string }

func (a recorded) Name() string { return a.name }

// Propose is an error: no agent works while a bundle is published.
func (a recorded) Propose(context.Context, agent.Request) (agent.Reply, error) {
	return agent.Reply{}, fmt.Errorf("%s made this proposal elsewhere; publishing asks no agent", a.name)
}
