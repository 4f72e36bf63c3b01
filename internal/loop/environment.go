package loop

import (
	"context"
	"os"
	"time"

	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/loop/evaluation"
)

// environment is a tree in which a commit is measured, with the home and temporary
// directory of its runs. Setup runs before the first of them.
type environment struct {
	run  *run
	tree *tree.Tree
	home string
	// artifacts is for what we write about the runs, where they cannot.
	artifacts string
	environ   []string
	ready     bool
	// trusted says that the tree is the default branch's.
	trusted bool
	// prepare is how long building and setup took.
	prepare time.Duration
}

// newEnvironment builds a room for a commit or tree at dir, which must not exist.
func (r *run) newEnvironment(ctx context.Context, treeish, dir string) (*environment, error) {
	start := r.Now()
	built, err := r.Trees.Build(ctx, treeish, dir, r.treeOptions(false))
	if err != nil {
		return nil, err
	}
	made := &environment{run: r, tree: built, home: r.newDir('h'), artifacts: r.newDir('a')}
	if made.environ, err = r.Environ(made.home, r.Program.Env); err == nil {
		err = os.Mkdir(made.artifacts, 0o700)
	}
	if err != nil {
		made.Close()
		return nil, err
	}
	made.prepare = r.Now().Sub(start)
	return made, nil
}

// Close removes the room; clearing nil, or twice, does nothing.
func (m *environment) Close() {
	if m == nil {
		return
	}
	_ = m.tree.Remove()
	_ = tree.RemoveAll(m.home)
	_ = tree.RemoveAll(m.artifacts)
}

// evaluate runs the evaluation once.
func (m *environment) evaluate(ctx context.Context) (evaluation.Outcome, error) {
	p := m.run.Program
	limit, over := m.run.toMeasure()
	if over != "" {
		return evaluation.Outcome{Problem: over, OverLimit: true}, nil
	}
	request := evaluation.Request{
		Script: p.Script, Dir: m.tree.Dir, Env: m.environ, Timeout: p.EvaluationTimeout, Metric: p.Metric, Artifacts: m.artifacts,
		Offline: !p.Network, Trusted: m.trusted, Limit: limit,
	}
	if !m.ready {
		request.Setup, m.ready = p.Setup, true
	}
	start := m.run.Now()
	outcome, err := m.run.Eval.Run(ctx, request)
	m.run.expend(outcome.Expense)
	if request.Setup != "" {
		m.prepare += m.run.Now().Sub(start) - outcome.Duration
	}
	return outcome, err
}

// bench is the two places in which a trial measures: a stage finds its sides'
// rooms built anew, and the confirmation finds them exchanged, so that no side
// owes its number to what a run before left, nor to its directory alone. Both
// paths are equally long.
type bench struct {
	run          *run
	places       [2]string
	environments [2]*environment
}

func (r *run) newBench() *bench {
	return &bench{run: r, places: [2]string{r.newDir('t'), r.newDir('t')}}
}

// environment returns the room at a place, built for treeish when there is none.
func (b *bench) environment(ctx context.Context, place int, treeish string) (*environment, error) {
	if b.environments[place] == nil {
		made, err := b.run.newEnvironment(ctx, treeish, b.places[place])
		if err != nil {
			return nil, err
		}
		b.environments[place] = made
	}
	return b.environments[place], nil
}

// Close removes both rooms.
func (b *bench) Close() {
	for i := range b.environments {
		b.environments[i].Close()
		b.environments[i] = nil
	}
}
