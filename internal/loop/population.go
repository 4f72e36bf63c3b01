package loop

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/strategy"
)

// maxPatch bounds the change that is kept of a member of the population, in
// bytes; a larger one is measured like any other, and has no offspring.
const maxPatch = 32 << 10

// selectParents chooses for every proposal what it grows from. A parent whose change
// cannot be made any more leaves the incumbent as the parent.
func (r *run) selectParents(ctx context.Context, at position, all []*attempt) error {
	population := strategy.Population{Direction: r.Program.Direction, Seed: r.seed(), Iteration: r.iteration}
	if r.Strategy.Evolves {
		population.Members = r.records.members(at.Evaluator)
	}
	for _, a := range all {
		population.Proposal = a.Proposal
		a.grown = r.Strategy.SelectParents(population)
		parent := a.grown.Parent
		if parent == nil {
			continue
		}
		var err error
		if a.from, err = r.transplant(ctx, at, parent); err != nil {
			return err
		}
		if a.from == "" {
			a.grown.Parent = nil
			continue
		}
		a.GrownFrom = &history.Ancestor{Iteration: parent.Iteration, Proposal: parent.Proposal}
	}
	return nil
}

// transplant makes a commit of the incumbent with the target files of a member
// of the population; "" when that is no longer possible, or the same.
func (r *run) transplant(ctx context.Context, at position, p *history.Proposed) (string, error) {
	tree, err := r.Repo.Apply(ctx, p.Parent, []byte(p.Patch))
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		r.step("propose", "iteration %d's files cannot be made again; the incumbent's stand for them",
			p.Iteration)
		return "", nil //nolint:nilerr // an old change that no longer fits is no fault
	}
	changes, err := r.Repo.Changes(ctx, at.Head, tree)
	if err != nil {
		return "", err
	}
	rules := r.rules(at)
	files := map[string]*git.File{}
	for _, change := range changes {
		switch {
		case !rules.Allow(change.Path):
		case change.NewID == "":
			files[change.Path] = nil
		default:
			files[change.Path] = &git.File{Mode: change.NewMode, ID: change.NewID}
		}
	}
	if len(files) == 0 {
		return "", nil
	}
	commit, err := r.Repo.CommitFiles(ctx, at.Head, files, []string{at.Head},
		fmt.Sprintf("Files of iteration %d\n", p.Iteration), r.Now().Truncate(time.Second))
	if err != nil {
		return "", err
	}
	changes, err = r.Repo.Changes(ctx, at.Head, commit)
	if slices.ContainsFunc(changes, func(c git.DiffEntry) bool { return !rules.Allow(c.Path) }) {
		return "", nil // another file of the incumbent is where one of these needs a directory, or the other way round
	}
	return commit, err
}

const (
	// mostTrials is how many of the latest iterations the tuner learns from.
	mostTrials = 500
	// mostMembers is how many of the latest proposals that were measured a population
	// has at most.
	mostMembers = 500
)

// trials are what the tuner learns from: the latest iterations that were decided under a
// definition, one with several proposals as so many, and how many iterations came before
// them. As many are left out as keeps the last digit of that number even.
func (b *records) trials(definition string) (trials []*history.Decided, earlier int) {
	earlier = max(0, len(b.Attempts)-mostTrials-len(b.Attempts)%2)
	proposals := map[int][]*history.Decided{}
	for _, p := range b.Proposals {
		proposals[p.Iteration] = append(proposals[p.Iteration], &p.Decided)
	}
	for _, tried := range b.Attempts[earlier:] {
		several := proposals[tried.Iteration]
		if len(several) == 0 {
			several = append(several, tried.Decided)
		}
		for _, e := range several {
			if e.Definition == definition {
				trials = append(trials, e)
			}
		}
	}
	return trials, earlier
}

// members are the latest proposals that were measured under an evaluator, with their patches.
func (b *records) members(evaluator string) []*history.Proposed {
	members := slices.DeleteFunc(slices.Clone(b.Proposals), func(p *history.Proposed) bool {
		return p.Metric == nil || p.Patch == "" || p.Evaluator != evaluator
	})
	return members[max(len(members)-mostMembers, 0):]
}
