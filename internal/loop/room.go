package loop

import (
	"context"
	"os"
	"time"

	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/loop/evaluation"
)

// room is a tree in which a commit is measured, with the home and temporary
// directory of its runs. Setup runs before the first of them.
type room struct {
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

// furnish builds a room for a commit or tree at dir, which must not exist.
func (r *run) furnish(ctx context.Context, treeish, dir string) (*room, error) {
	start := r.Now()
	built, err := r.Trees.Build(ctx, treeish, dir, r.treeOptions(false))
	if err != nil {
		return nil, err
	}
	made := &room{run: r, tree: built, home: r.newDir('h'), artifacts: r.newDir('a')}
	if made.environ, err = r.Environ(made.home, r.Program.Env); err == nil {
		err = os.Mkdir(made.artifacts, 0o700)
	}
	if err != nil {
		made.clear()
		return nil, err
	}
	made.prepare = r.Now().Sub(start)
	return made, nil
}

// clear removes the room; clearing nil, or twice, does nothing.
func (m *room) clear() {
	if m == nil {
		return
	}
	_ = m.tree.Remove()
	_ = tree.RemoveAll(m.home)
	_ = tree.RemoveAll(m.artifacts)
}

// evaluate runs the evaluation once.
func (m *room) evaluate(ctx context.Context) (evaluation.Outcome, error) {
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
	run    *run
	places [2]string
	rooms  [2]*room
}

func (r *run) newBench() *bench {
	return &bench{run: r, places: [2]string{r.newDir('t'), r.newDir('t')}}
}

// room returns the room at a place, built for treeish when there is none.
func (b *bench) room(ctx context.Context, place int, treeish string) (*room, error) {
	if b.rooms[place] == nil {
		made, err := b.run.furnish(ctx, treeish, b.places[place])
		if err != nil {
			return nil, err
		}
		b.rooms[place] = made
	}
	return b.rooms[place], nil
}

// clear removes both rooms.
func (b *bench) clear() {
	for i := range b.rooms {
		b.rooms[i].clear()
		b.rooms[i] = nil
	}
}
