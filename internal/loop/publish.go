package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
	"github.com/org/autoloop/internal/prompt"
)

// published is the setting whose value is the digest of the last bundle that was
// recorded.
const published = "published"

// RefusedError says why a bundle is not recorded. Nothing was changed.
type RefusedError struct{ Reason string }

// Error returns the reason.
func (e *RefusedError) Error() string { return "the bundle is refused: " + e.Reason }

func refuse(format string, args ...any) error {
	return &RefusedError{fmt.Sprintf(format, args...)}
}

// Publish records what Propose handed on, as if this run had made it, and does
// what only this job may: it obeys commands, takes what CI said, and shows all
// on GitHub. Neither the program's code nor an agent is run. The record is
// written in one step, or nothing is: what is stale or against the rules is a
// *RefusedError. A bundle whose publishing was interrupted after the record is
// shown to its end; one that is shown is refused.
func (s *Service) Publish(ctx context.Context, b proposal.Bundle) (Result, error) {
	own := *s
	own.Agent, own.Agents = recorded{}, nil
	run := own.begin()
	run.publishing = true
	return run.through(ctx, func(ctx context.Context) (Result, error) { return run.publish(ctx, b) })
}

func (r *run) publish(ctx context.Context, from proposal.Bundle) (Result, error) {
	files, head, err := r.Memory.Read(ctx, r.Program.Name)
	if err != nil {
		return Result{}, err
	}
	if r.records, err = openRecords(r.Program, files); err != nil {
		return Result{}, err
	}
	r.files, r.before, r.iteration = files, r.records.sum.LastRun, from.Iteration
	if r.Masker.Leaks(from.Events) {
		return Result{}, refuse("it has a secret of this job in it")
	}
	if e := r.records.pending(); e != nil {
		r.Agent = recorded{e.Agent}
	}
	if by := r.publishedBy(from); by != "" {
		return r.again(ctx, from, by)
	}
	if err := r.current(ctx, from, head); err != nil {
		return Result{}, err
	}
	if err := r.readProposedComments(ctx, from); err != nil {
		return Result{}, err
	}
	var result Result
	switch from.Kind {
	case proposal.Chores:
		result, err = r.maintain(ctx, from)
	case proposal.Fix:
		result, err = r.publishFix(ctx, from)
	default:
		result, err = r.publishIteration(ctx, from)
	}
	var held *blockedError
	var busy *errBusy
	switch {
	case errors.As(err, &held):
		return result, refuse("no iteration may be recorded now: %s", held.reason)
	case errors.As(err, &busy):
		return result, refuse("another run works on %s: %s", r.Program.Name, busy.holder)
	}
	return result, err
}

// publishedBy is the run that recorded the bundle, "" when none did.
func (r *run) publishedBy(from proposal.Bundle) string {
	for _, e := range r.records.log.Events {
		if e.Kind == history.Set && e.Key == published && e.Value == from.ID {
			return e.Run
		}
	}
	return ""
}

// current refuses a bundle of another program or repository, and one that was
// made from other books than there are now.
func (r *run) current(ctx context.Context, from proposal.Bundle, head string) error {
	name, iteration := r.Program.Name, r.records.sum.Iteration+1
	if from.Kind == proposal.Fix || from.Kind == proposal.Chores && r.records.pending() != nil {
		iteration--
	}
	switch {
	case from.Program != name:
		return refuse("it is of program %q, not of %q", from.Program, name)
	case from.Repository != r.Repository:
		return refuse("it is of repository %q, not of %q", from.Repository, r.Repository)
	case from.Books != recordsDigest(r.files):
		return r.stale()
	case from.Iteration != iteration && from.Iteration != r.adopts():
		return refuse("it is of iteration %d, and %d is the next", from.Iteration, iteration)
	}
	return r.remembered(ctx, from, head)
}

// adopts is the iteration after those of a state that has no ledger.
func (r *run) adopts() int {
	if len(r.records.log.Events) > 0 {
		return -1
	}
	return r.records.machine.IterationCount + 1
}

// remembered refuses a bundle whose commit of the memory branch is none that
// led to the present one.
func (r *run) remembered(ctx context.Context, from proposal.Bundle, head string) error {
	if from.Memory == head {
		return nil
	}
	known := false
	if from.Memory != "" && head != "" {
		var err error
		if _, known, err = r.Repo.Resolve(ctx, from.Memory); err != nil {
			return err
		}
		if known {
			if known, err = r.Repo.IsAncestor(ctx, from.Memory, head); err != nil {
				return err
			}
		}
	}
	if from.Memory == "" && r.files.Ledger == nil {
		known = true // another program's books are the first
	}
	if !known {
		return refuse("it was made from commit %.12q of the memory branch, which is not there", from.Memory)
	}
	return nil
}

func (r *run) stale() error {
	return refuse("it is stale: the state of %s has changed since; propose again", r.Program.Name)
}

func (r *run) publishIteration(ctx context.Context, from proposal.Bundle) (Result, error) {
	if r.records.pending() != nil {
		return Result{}, refuse("an iteration waits for CI; propose again")
	}
	handed, err := unpack(from, r.Masker)
	if err != nil {
		return Result{}, err
	}
	if handed.attempt.agent != nil {
		r.Agent = handed.attempt.agent
	}
	at, err := r.standing(ctx, from)
	if err != nil {
		return Result{}, err
	}
	if err := handed.fits(r, at); err != nil {
		return Result{}, err
	}
	if err := handed.judged(at, history.Accepted, history.Rejected, history.Error); err != nil {
		return Result{}, err
	}
	commit := ""
	if handed.kept() {
		if err := r.rebuild(ctx, from, at, at.Head, handed.attempt); err != nil {
			return Result{}, err
		}
		if commit, err = r.commit(ctx, at, handed.attempt); err != nil {
			return Result{}, err
		}
	}
	return r.enterBundle(ctx, from, at, handed, commit)
}

// standing finds the position that the bundle was made from, and refuses the
// bundle when it is no more.
func (r *run) standing(ctx context.Context, from proposal.Bundle) (position, error) {
	at := position{Base: from.Base}
	var err error
	if at.BaseBranch, err = r.defaultBranch(ctx); err != nil {
		return at, err
	}
	if at.BaseBranch != from.BaseBranch {
		return at, refuse("it is for branch %q, not for %q", from.BaseBranch, at.BaseBranch)
	}
	head, err := r.baseCommit(ctx, at.BaseBranch)
	if err != nil {
		return at, err
	}
	if err := r.deepen(ctx); err != nil {
		return at, err
	}
	_, known, err := r.Repo.Resolve(ctx, from.Base)
	if err == nil && known {
		known, err = r.Repo.IsAncestor(ctx, from.Base, head)
	}
	if err != nil {
		return at, err
	}
	if !known {
		return at, refuse("it was made from commit %.12s, which is not on %s", from.Base, at.BaseBranch)
	}
	return r.stands(ctx, from, at)
}

func (r *run) stands(ctx context.Context, from proposal.Bundle, at position) (position, error) {
	at, err := r.place(ctx, at)
	var conflict *conflictError
	if at.Old != from.Branch || errors.As(err, &conflict) {
		return at, refuse("it is stale: branch %s has moved since; propose again", r.branch())
	}
	if err != nil {
		return at, err
	}
	tree, err := r.treeOf(ctx, at.Head)
	if err != nil {
		return at, err
	}
	if tree != from.Incumbent {
		return at, refuse("it was made from other files than those of %s", r.branch())
	}
	if at.entries, err = r.entries(ctx, at.Head); err != nil {
		return at, err
	}
	at.identity, err = r.identify(at.entries)
	return at, err
}

// enterBundle writes everything in one step. The books may not have changed
// since they were read.
func (r *run) enterBundle(ctx context.Context, from proposal.Bundle, at position, h *handed, commit string) (Result, error) {
	update := at.branchUpdate(r.ref())
	if len(h.zero) == 0 && commit == "" {
		update = nil // as a single job leaves the branch when nothing was measured on it
	}
	waits := false
	if commit != "" {
		update = &git.RefUpdate{Ref: r.ref(), New: commit, Old: at.Old}
		if waits = r.ciRequired(ctx, at.Base); waits {
			h.attempt.outcome, h.decided.Outcome = history.PendingCI, history.PendingCI
		}
	}
	r.step("record", string(h.attempt.outcome))
	message := fmt.Sprintf("%s: iteration %d %s", r.Program.Name, from.Iteration, h.attempt.outcome)
	err := r.update(ctx, message, update, func(b *records) error {
		if err := r.begins(b, from); err != nil {
			return err
		}
		return r.enterHanded(b, at, h, commit, waits)
	})
	if err != nil {
		return Result{}, err
	}
	r.answerComments(ctx)
	switch {
	case waits:
		return r.waitForCI(ctx)
	case h.decided == nil && h.putOff == nil:
		return r.idle(), nil
	case h.decided == nil:
		return r.result(history.Idle, r.stopped), nil
	default:
		return r.report(h.attempt, commit), nil
	}
}

// begins takes the lease, notes the bundle, and answers what was said before it
// was made.
func (r *run) begins(b *records, from proposal.Bundle) error {
	if recordsDigest(b.read) != from.Books {
		return r.stale()
	}
	if err := r.enterStart(b); err != nil {
		return err
	}
	if r.iteration != from.Iteration && from.Kind == proposal.Iteration {
		return r.stale()
	}
	r.records, r.iteration = b, from.Iteration
	if err := r.set(b, published, from.ID); err != nil || r.comments == nil || from.Kind == proposal.Chores {
		return err
	}
	return r.enterCommands(b, &undoing{})
}

func (r *run) enterHanded(b *records, at position, h *handed, commit string, waits bool) error {
	if len(h.zero) > 0 {
		if err := r.enterBaseline(b, at, h.zero); err != nil {
			return err
		}
	}
	if h.decided == nil {
		return r.enterNothing(b, h)
	}
	decided, err := h.decision(r, b, at, commit)
	if err != nil {
		return err
	}
	for _, e := range h.measured {
		if e.Kind == history.Proposed {
			e.Parent = at.Head
			e.Direction = r.Program.Direction
		}
		if e.Kind == history.Proposed && e.Proposal == deciding(decided) {
			e.Outcome = decided.Outcome
		}
		if err := r.add(b, e); err != nil {
			return err
		}
	}
	if !waits {
		return r.enterDecided(b, h.attempt, decided)
	}
	if err := r.enterPending(b, decided); err != nil {
		return err
	}
	for _, one := range h.attempt.all() {
		b.enterNotes(r.iteration, one.notes)
	}
	return r.consumed(b)
}

// enterNothing ends an iteration that came to no decision: the baseline ended
// the program, or the agent's service put it off.
func (r *run) enterNothing(b *records, h *handed) error {
	if h.putOff != nil {
		return r.enterPutOff(b, *h.putOff)
	}
	if r.stopped == "" && len(h.zero) > 0 && h.zero[0].Evaluation != nil {
		r.stopped = cmp.Or(r.blockedReason(b), "budget: the baseline used what the proposing run may cost; propose again")
	}
	if r.stopped == "" {
		return refuse("it decides nothing")
	}
	if err := r.consumed(b); err != nil {
		return err
	}
	return r.add(b, history.Event{Kind: history.Finished, Iteration: b.sum.Iteration})
}

// enterPutOff gives the lease back until the agent's service serves again.
func (r *run) enterPutOff(b *records, e history.Event) error {
	if wait := e.NotBefore.Sub(r.Now()); wait > mostWait {
		return refuse("it is put off until %s, longer than any service asks for", e.NotBefore.UTC())
	}
	if e.Metric != nil || e.Agent == "" {
		return refuse("what put it off is no service of an agent")
	}
	r.stopped = e.Reason
	return r.add(b, history.Event{
		Kind: history.Finished, Iteration: r.iteration, Agent: e.Agent, Usage: e.Usage, Durations: e.Durations, Evaluation: e.Evaluation,
		NotBefore: e.NotBefore, Reason: e.Reason,
	})
}

// recorded stands for the agent that made a proposal elsewhere.
type recorded struct{ name string }

func (a recorded) Name() string { return a.name }

// Propose is an error: no agent works while a bundle is published.
func (a recorded) Propose(context.Context, agent.Request) (agent.Reply, error) {
	return agent.Reply{}, fmt.Errorf("%s made this proposal elsewhere; publishing asks no agent", a.name)
}

func notesOf(e history.Event) prompt.Notes {
	return prompt.Notes{Lessons: e.Lessons, Foreclosed: e.Foreclosed, Ideas: e.Ideas}.Few()
}
