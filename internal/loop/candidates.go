package loop

import (
	"cmp"
	"context"
	"maps"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
)

// manyFiles are so many that people wait for a tree of them.
const manyFiles = 5000

// maxAtOnce bounds how many agents work at the same time.
const maxAtOnce = 8

// attempt lets the agents propose and measures what they proposed.
func (r *run) attempt(ctx context.Context, at position) ([]*attempt, error) {
	all := make([]*attempt, max(r.Program.Candidates, len(r.Agents), 1))
	sum := &r.records.Summary
	for i := range all {
		all[i] = r.newAttempt(i+1, len(all))
		all[i].Focus = r.Strategy.Focus(sum.Output, sum.Focuses(at.Definition))
	}
	if err := r.selectParents(ctx, at, all); err != nil {
		return nil, err
	}
	if err := r.try(ctx, at, all); err != nil {
		return nil, err
	}
	return r.selectAttempt(all), nil
}

// newAttempt is an attempt that has not begun; the agents take turns.
func (r *session) newAttempt(number, of int) *attempt {
	a := &attempt{of: of}
	a.Proposal, a.Agent, a.Durations, a.Usage = number, r.absent, map[string]float64{}, &a.reply.Usage
	if len(r.Agents) > 0 {
		who := r.Agents[(number-1)%len(r.Agents)]
		a.agent, a.Agent, a.Model = who.Agent, who.Name(), who.Model
	}
	return a
}

// try takes attempts through all stages.
func (r *run) try(ctx context.Context, at position, all []*attempt) error {
	defer func() {
		for _, a := range all {
			if a.proposed != nil {
				a.proposed.Release()
			}
		}
	}()
	if err := r.ask(ctx, at, all); err != nil {
		return err
	}
	digests := map[string]int{}
	for _, a := range all {
		if err := r.consider(ctx, at, a, digests); err != nil {
			return err
		}
		a.proposed.Release() // the next tree is made of it
	}
	return r.measureAll(ctx, at, all)
}

// ask builds the trees and runs the agents in them, at the same time.
func (r *run) ask(ctx context.Context, at position, all []*attempt) error {
	if len(at.entries) >= manyFiles {
		r.step("trees", "building one of %d files", len(at.entries))
	}
	for _, a := range all {
		o := tree.Options{Head: cmp.Or(a.from, at.Head), Share: r.Program.Share}
		var err error
		if a.proposed, err = r.Trees.Build(ctx, o.Head, r.newDir("t"), o); err != nil {
			return err
		}
	}
	before, err := r.Repo.Fingerprint(ctx, r.Program.File)
	if err != nil {
		return err
	}
	r.working = all
	err = r.askAll(ctx, at, all)
	for _, a := range all {
		r.used = r.used.Plus(&history.Expense{Tokens: a.Usage.Tokens(), CostUSD: a.Usage.CostUSD})
	}
	if err != nil {
		return err
	}
	r.leftAs, err = r.endTampered(ctx, all, before, "while the agent ran")
	return err
}

// endTampered ends the attempts when the repository itself was changed, and says how it is now.
func (r *run) endTampered(ctx context.Context, all []*attempt, before git.Fingerprint, when string,
) (after git.Fingerprint, err error) {
	after, reason, err := r.disturbed(ctx, before, when)
	if err != nil || reason == nil {
		return after, err
	}
	for _, a := range all {
		a.Rule = nil
		a.decide(decision.Decision{})
		own := *reason
		own.Words = a.masker.String(own.Words)
		a.end(history.Error, own)
	}
	return after, nil
}

// askAll gives every agent its task and waits for all of them. The tuner's proposals are made
// one after the other, since each of them learns from those before it; they take no time.
func (r *run) askAll(ctx context.Context, at position, all []*attempt) error {
	var pending []*history.Decided
	group, bounded := errgroup.WithContext(ctx)
	group.SetLimit(maxAtOnce)
	for _, a := range all {
		r.step("propose", "%s", a.title())
		request, err := r.request(ctx, at, a, pending)
		switch {
		case err != nil:
		case !tunes(a):
			group.Go(func() error { return r.askOne(bounded, a, request) })
		default:
			if err = r.askOne(bounded, a, request); a.Params != nil {
				best := r.records.Best
				pending = append(pending, &history.Decided{
					Head: history.Head{Iteration: r.iteration}, Work: history.Work{Params: a.Params},
					Metric: best, PreviousBest: best,
				})
			}
		}
		if err != nil { // which ends the others
			group.Go(func() error { return err })
			break
		}
	}
	return group.Wait()
}

func tunes(a *attempt) bool {
	_, tuner := a.agent.(agent.Tuner)
	return tuner
}

// askOne runs one agent. It ends the attempt when the agent failed.
func (r *run) askOne(ctx context.Context, a *attempt, request agent.Request) (err error) {
	defer r.remove(request.Home)
	start := r.Now()
	a.reply, err = a.agent.Propose(ctx, request)
	a.reply.Usage = a.reply.Usage.Possible()
	a.masker = r.Masker.With(a.reply.Secrets)
	a.mask()
	a.Model, a.Summary, a.Params = cmp.Or(a.reply.Model, a.Model), a.reply.Summary, a.reply.Params
	a.Durations["propose"] = r.Now().Sub(start).Seconds()
	if failure := a.reply.Failure; err == nil && failure != nil {
		a.failed(failure)
	}
	return err
}

// failed ends the attempt for what kept its agent from working.
func (a *attempt) failed(failure *agent.Failure) {
	a.end(history.Error, decision.Reason{
		Kind: decision.AgentFailed, Path: a.Agent, Term: string(failure.Kind),
		Words: failure.Message,
	})
}

// consider holds a proposal against the target, and against what was tried.
func (r *run) consider(ctx context.Context, at position, a *attempt, digests map[string]int) (err error) {
	if broken := a.proposed.Broken(); broken != "" {
		if a.Outcome == "" {
			a.end(history.Error, decision.NothingLeft.Says(broken))
		}
		return nil
	}
	if a.Notes, err = takeNotes(at, a.proposed.Dir, a.masker); err != nil || a.Outcome != "" {
		return err
	}
	if err := r.guard(ctx, at, a.proposed, a); err != nil || a.Outcome != "" {
		return err
	}
	patch, err := r.Repo.Diff(ctx, at.Head, a.tree)
	if err != nil {
		return err
	}
	a.Digest = decision.Digest(patch)
	if a.Digest == "" {
		a.end(history.Rejected, decision.Reason{Kind: decision.Unchanged})
		return nil
	}
	if err := r.inherit(ctx, at, a, patch); err != nil {
		return err
	}
	// What was kept is in the incumbent: the same lines once more are another change.
	if tried, found := r.records.Tried[a.Digest]; found && tried.Outcome != history.Accepted {
		a.end(history.Rejected, decision.Reason{
			Kind: decision.TriedBefore, Count: tried.Iteration,
			Term: string(tried.Outcome),
		})
		return nil
	}
	if twin, found := digests[a.Digest]; found {
		a.end(history.Rejected, decision.ProposedTwice.Counts(twin))
		return nil
	}
	digests[a.Digest] = a.Proposal
	return nil
}

// inherit notes the change of a member of the population: against the incumbent,
// whatever it began with.
func (r *run) inherit(ctx context.Context, at position, a *attempt, patch []byte) error {
	if r.Strategy.Evolves && len(patch) <= maxPatch && utf8.Valid(patch) {
		a.Patch = string(patch)
	}
	if a.from == "" {
		return nil
	}
	changes, err := r.Repo.Changes(ctx, at.Head, a.tree)
	if err != nil {
		return err
	}
	a.Changed = git.Paths(atMost(changes, maxChanged))
	return nil
}

// measureAll puts on trial what is left, as long as one more trial has time.
func (r *run) measureAll(ctx context.Context, at position, all []*attempt) error {
	longest := time.Duration(0)
	var stop decision.Why
	var measured []*attempt
	for _, a := range all {
		if a.Outcome != "" {
			continue
		}
		if until, ok := ctx.Deadline(); ok && longest > 0 && until.Sub(r.Now()) < longest {
			stop = decision.NoTimeLeft
		}
		if stop != "" {
			a.end(history.Error, decision.Reason{Kind: stop})
			continue
		}
		if a.of > 1 {
			r.step("measure", "proposal %s", a.title())
		}
		start := r.Now()
		measured = append(measured, a)
		if err := r.measure(ctx, at, a); err != nil {
			return err
		}
		longest = max(longest, r.Now().Sub(start))
		if a.Outcome == history.Error {
			stop = decision.ErrorBefore
		}
	}
	if len(measured) == 0 {
		return nil
	}
	_, err := r.endTampered(ctx, measured, r.leftAs, "while it was measured")
	return err
}

// disturbed says what was changed in the repository itself since it had a fingerprint, nil for
// nothing that matters, and how it is now.
func (r *run) disturbed(ctx context.Context, before git.Fingerprint, when string) (
	after git.Fingerprint, reason *decision.Reason, err error,
) {
	if after, err = r.Repo.Fingerprint(ctx, r.Program.File); err != nil {
		return nil, nil, err
	}
	changes, err := r.changesOf(ctx, before, after)
	return after, r.tampered(changes, when), err
}

// changesOf are the differences of two fingerprints without what runs of other programs
// record in between.
func (r *run) changesOf(ctx context.Context, before, after git.Fingerprint) ([]string, error) {
	before = maps.Clone(before)
	head := after["ref refs/heads/"+memory.MemoryBranch]
	for key, now := range after {
		ref, is := strings.CutPrefix(key, "ref ")
		if !is || before[key] == now {
			continue
		}
		theirs, err := r.othersMoved(ctx, head, ref, before[key], now)
		if err != nil {
			return nil, err
		}
		if theirs {
			before[key] = now
		}
	}
	return before.Diff(after), nil
}

// othersMoved reports whether runs of other programs moved a ref: the memory branch, whose commit
// is head, as long as it still begins with what it was and has this program's records as they
// were, and their own branches where the records have them. What was obtained of a remote moves
// with every fetch, and nothing is decided by it.
func (r *run) othersMoved(ctx context.Context, head, ref, was, now string) (theirs bool, err error) {
	at := strings.LastIndex(ref, "/"+BranchPrefix) // refs/autoloop/seen/origin/autoloop/NAME too
	name := ref[at+1:]
	switch {
	case strings.HasPrefix(ref, git.ObtainedRefs):
		return true, nil
	case strings.HasSuffix(ref, "/"+memory.MemoryBranch):
		if was != "" {
			theirs, err = r.Repo.IsAncestor(ctx, was, now)
		}
		if theirs && err == nil {
			theirs, err = r.Memory.Same(ctx, was, now, r.Program.Name)
		}
		return theirs, err
	case at < 0 || name == BranchPrefix+r.Program.Name:
		return false, nil
	}
	files, err := r.Memory.At(ctx, head, strings.TrimPrefix(name, BranchPrefix))
	if err != nil || files.Ledger == nil {
		return false, ctx.Err() // another program's ledger that cannot be read says nothing
	}
	summary := files.Ledger.Summary()
	return summary.Head() == now, nil
}
