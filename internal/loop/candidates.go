package loop

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
)

// manyFiles are so many that people wait for a tree of them.
const manyFiles = 5000

// maxAtOnce bounds how many agents work at the same time.
const maxAtOnce = 8

// attempt lets the agents propose, measures what they proposed, and returns the
// proposal that decides the iteration, with the others in it.
func (r *team) attempt(ctx context.Context, at position) (*attempt, error) {
	all := r.newAttempts()
	defer func() {
		for _, a := range all {
			a.discard()
		}
	}()
	if err := r.proposeAll(ctx, at, all); err != nil {
		return nil, err
	}
	digests := map[string]int{}
	for _, a := range all {
		if err := r.consider(ctx, at, a, digests); err != nil {
			return nil, err
		}
		a.discard() // the next tree is made of it
	}
	if err := r.measureAll(ctx, at, all); err != nil {
		return nil, err
	}
	return r.selectAttempt(all), nil
}

// discard gives back the tree of an agent.
func (a *attempt) discard() {
	if a.proposed != nil {
		a.proposed.Release()
	}
}

// newAttempts are as many as the program asks for, the agents taking turns.
func (r *team) newAttempts() []*attempt {
	agents := r.Agents
	all := make([]*attempt, max(r.Program.Candidates, len(agents), 1))
	for i := range all {
		who := agents[i%len(agents)]
		all[i] = &attempt{
			number: i + 1, of: len(all), agent: who.Agent, model: who.Model,
			durations: map[string]float64{},
		}
	}
	return all
}

// proposeAll runs the agents, each in a tree of its own, at the same time. The
// tuner's proposals come first, one after the other, since each of them learns
// from those before it; they take no time.
func (r *team) proposeAll(ctx context.Context, at position, all []*attempt) error {
	if err := r.selectParents(ctx, at, all); err != nil {
		return err
	}
	focus := r.focus(at)
	for _, a := range all {
		a.focus = focus
	}
	return r.ask(ctx, at, all)
}

// ask builds the trees and runs the agents in them.
func (r *team) ask(ctx context.Context, at position, all []*attempt) error {
	if len(at.entries) >= manyFiles {
		r.step("trees", fmt.Sprintf("building one of %d files", len(at.entries)))
	}
	for _, a := range all {
		from := cmp.Or(a.lineage.from, at.Head)
		var err error
		if a.proposed, err = r.Trees.Build(ctx, from, r.newDir("t"), r.measurer.treeOptions(from)); err != nil {
			return err
		}
	}
	before, err := r.Repo.Fingerprint(ctx, r.Program.File)
	if err != nil {
		return err
	}
	r.working = all
	err = r.askAll(ctx, at, all)
	r.consumedBy(all)
	if err != nil {
		return err
	}
	r.leftAs, err = r.Repo.Fingerprint(ctx, r.Program.File)
	if err != nil {
		return err
	}
	return r.endTampered(ctx, all, before, r.leftAs, "while the agent ran")
}

// endTampered ends the attempts when the repository itself was changed.
func (r *team) endTampered(ctx context.Context, all []*attempt, before, after git.Fingerprint, when string) error {
	changes, err := r.changesOf(ctx, before, after)
	touched := r.tampered(changes, when)
	if err != nil || len(touched) == 0 {
		return err
	}
	for _, a := range all {
		a.verdict, a.rule, a.decision = nil, nil, decision.Decision{}
		a.end(history.Error, decision.Reason{
			Kind: decision.RepositoryChanged, Term: when,
			Words: a.masker.String(strings.Join(touched, "; ")),
		})
	}
	return nil
}

// askAll gives every agent its task and waits for all of them.
func (r *team) askAll(ctx context.Context, at position, all []*attempt) error {
	var pending []agent.PastIteration
	requests := make([]agent.Request, len(all))
	for i, a := range all {
		r.step("propose", a.title())
		var err error
		if requests[i], err = r.request(ctx, at, a, pending); err != nil {
			return err
		}
		if !tunes(a) {
			continue
		}
		if err := r.askOne(ctx, a, requests[i]); err != nil {
			return err
		}
		if a.reply.Params != nil {
			pending = append(pending, agent.PastIteration{
				Iteration: r.iteration, Params: a.reply.Params,
				Metric: r.records.sum.Best, Previous: r.records.sum.Best,
			})
		}
	}
	group, bounded := errgroup.WithContext(ctx)
	group.SetLimit(maxAtOnce)
	for i, a := range all {
		if !tunes(a) {
			group.Go(func() error { return r.askOne(bounded, a, requests[i]) })
		}
	}
	return group.Wait()
}

func tunes(a *attempt) bool {
	_, tuner := a.agent.(agent.Tuner)
	return tuner
}

// askOne runs one agent. It ends the attempt when the agent failed.
func (r *team) askOne(ctx context.Context, a *attempt, request agent.Request) (err error) {
	defer r.remove(request.Home)
	start := r.Now()
	a.reply, err = a.agent.Propose(ctx, request)
	a.reply.Usage = a.reply.Usage.Possible()
	a.masker = r.Masker.With(a.reply.Secrets)
	a.mask()
	a.durations["propose"] = r.Now().Sub(start).Seconds()
	if failure := a.reply.Failure; err == nil && failure != nil {
		a.failed(failure)
	}
	return err
}

// failed ends the attempt for what kept its agent from working.
func (a *attempt) failed(failure *agent.Failure) {
	a.end(history.Error, decision.Reason{
		Kind: decision.AgentFailed, Path: a.agent.Name(), Term: string(failure.Kind),
		Words: failure.Message,
	})
}

// consider holds a proposal against the target, and against what was tried.
func (r *team) consider(ctx context.Context, at position, a *attempt, digests map[string]int) (err error) {
	if broken := a.proposed.Broken(); broken != "" {
		if a.outcome == "" {
			a.end(history.Error, decision.Reason{Kind: decision.NothingLeft, Words: broken})
		}
		return nil
	}
	if a.notes, err = takeNotes(at, a.proposed.Dir, a.masker); err != nil || a.outcome != "" {
		return err
	}
	if done, err := r.guard(ctx, at, a.proposed, a); done || err != nil {
		return err
	}
	patch, err := r.Repo.Diff(ctx, at.Head, a.tree)
	if err != nil {
		return err
	}
	a.digest = decision.Digest(patch)
	if a.digest == "" {
		a.end(history.Rejected, decision.Reason{Kind: decision.Unchanged})
		return nil
	}
	if err := r.inherit(ctx, at, a, patch); err != nil {
		return err
	}
	// What was kept is in the incumbent: the same lines once more are another change.
	if tried, found := r.records.sum.Tried[a.digest]; found && tried.Outcome != history.Accepted {
		a.end(history.Rejected, decision.Reason{
			Kind: decision.TriedBefore, Count: tried.Iteration,
			Term: string(tried.Outcome),
		})
		return nil
	}
	if twin, found := digests[a.digest]; found {
		a.end(history.Rejected, decision.Reason{Kind: decision.ProposedTwice, Count: twin})
		return nil
	}
	digests[a.digest] = a.number
	return nil
}

// inherit notes the change of a member of the population: against the incumbent,
// whatever it began with.
func (r *team) inherit(ctx context.Context, at position, a *attempt, patch []byte) error {
	if r.strategy().Evolves && len(patch) <= maxPatch && utf8.Valid(patch) {
		a.patch = patch
	}
	if a.lineage.from == "" {
		return nil
	}
	changes, err := r.Repo.Changes(ctx, at.Head, a.tree)
	if err != nil {
		return err
	}
	a.changed = a.changed[:0]
	for _, change := range changes {
		a.changed = append(a.changed, change.Path)
	}
	return nil
}

// measureAll puts on trial what is left, as long as one more trial has time.
func (r *team) measureAll(ctx context.Context, at position, all []*attempt) error {
	longest := time.Duration(0)
	var stop decision.Why
	var measured []*attempt
	for _, a := range all {
		if a.outcome != "" {
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
			r.step("measure", "proposal "+a.title())
		}
		start := r.Now()
		measured = append(measured, a)
		if err := r.measurer.measure(ctx, at, a); err != nil {
			return err
		}
		longest = max(longest, r.Now().Sub(start))
		if a.outcome == history.Error {
			stop = decision.ErrorBefore
		}
	}
	if len(measured) == 0 {
		return nil
	}
	after, err := r.Repo.Fingerprint(ctx, r.Program.File)
	if err != nil {
		return err
	}
	return r.endTampered(ctx, measured, r.leftAs, after, "while it was measured")
}
