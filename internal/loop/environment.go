package loop

import (
	"context"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/process"
)

// environment is where a commit is measured: a tree, with the home and temporary
// directory of its runs. Setup runs before the first of them.
type environment struct {
	*measurer

	tree *tree.Tree
	home string
	// artifacts is for what we write about the runs, where they cannot.
	artifacts string
	environ   []string
	// ready says that the evaluation ran in it, passed that the last run did not fail.
	ready, passed bool
	// side is whose tree it is, treeish what that was built from, and head the commit as
	// which git shows it.
	side          history.Role
	treeish, head string
	// change changes a tree that was built, before it is measured; nil changes nothing.
	change func(dir string) error
	// prepare is how long building and setup took.
	prepare time.Duration
}

// measurer runs the evaluation in measurement environments.
type measurer struct {
	*spending
	// printed counts what evaluations printed; failed is the file of the first that failed.
	printed int
	failed  string
	// own are the files of the evaluator that it changes itself.
	own ownChanges
	// toldAbsent says that people know which submodules are not checked out.
	toldAbsent bool
	// once says that the evaluation cannot run twice in one tree, so that each run gets a
	// new one.
	once bool
}

// newEnvironment builds an environment for a commit or tree at dir, which must not
// exist; git shows it as the commit head, "" for no git.
func (r *measurer) newEnvironment(ctx context.Context, side history.Role, treeish, head,
	dir string,
) (*environment, error) {
	start := r.Now()
	o := r.treeOptions(head)
	o.Measured = true
	built, err := r.Trees.Build(ctx, treeish, dir, o)
	if err != nil {
		return nil, err
	}
	made := &environment{
		measurer: r, side: side, treeish: treeish, head: head, tree: built, home: r.newDir("h"),
		artifacts: r.newDir("a"),
	}
	made.environ, err = r.Environ(made.home, r.Program.Env)
	if err == nil && r.Configure != nil {
		err = r.Configure(made.home)
	}
	if err == nil {
		err = os.MkdirAll(made.artifacts, 0o700)
	}
	if err != nil {
		made.Close()
		return nil, err
	}
	if len(built.Absent) > 0 && !r.toldAbsent {
		r.toldAbsent = true
		r.step("submodules", "%s: not checked out, so empty here too (git submodule update --init)", list(built.Absent))
	}
	made.prepare = r.Now().Sub(start)
	return made, nil
}

// Close removes the environment. Closing nil, or twice, does nothing.
func (m *environment) Close() {
	if m == nil {
		return
	}
	m.tree.Release()
	for _, dir := range []string{m.home, m.artifacts} {
		m.remove(dir)
	}
}

// evaluate runs the evaluation once. Where it fails twice in a tree in which it passed before,
// what it left there may be to blame, such as a build directory that it makes: then a run
// in a new tree is what counts.
func (m *environment) evaluate(ctx context.Context) (evaluation.Result, error) {
	if m.ready && m.once {
		return m.anew(ctx)
	}
	fails := func(of evaluation.Result, err error) bool {
		return err == nil && of.Problem != "" && !of.OverLimit && !of.TimedOut
	}
	passed, failed := m.passed, m.failed
	outcome, err := m.run(ctx)
	if !passed || !fails(outcome, err) || !fails(m.run(ctx)) { // else it fails at times
		return outcome, err
	}
	anew, err := m.anew(ctx)
	if err == nil && anew.Problem == "" {
		m.once, m.failed = true, failed
		m.warn("the evaluation fails where it ran before, so every run gets a new tree, which takes longer; let it "+
			"remove what it makes first: %s", outcome.Problem)
	}
	return anew, err
}

// anew runs it with a new tree, home and temporary directory in place of those that were used.
func (m *environment) anew(ctx context.Context) (evaluation.Result, error) {
	m.Close()
	made, err := m.newEnvironment(ctx, m.side, m.treeish, m.head, m.tree.Dir)
	if err != nil {
		return evaluation.Result{}, err
	}
	made.change = m.change
	if *m = *made; m.change != nil {
		err = m.change(m.tree.Dir)
	}
	if err != nil {
		return evaluation.Result{}, err
	}
	return m.run(ctx)
}

// run runs the evaluation once in the tree as it is.
func (m *environment) run(ctx context.Context) (evaluation.Result, error) {
	p, own := m.Program, m.own
	if own != nil && !m.Isolated { // else others of our user cannot reach them
		changed := slices.DeleteFunc(m.tree.Altered(m.evaluatorFile()),
			func(path string) bool { _, does := own[path]; return does }) // the evaluation itself
		if len(changed) > 0 {
			return evaluation.Result{}, unmeasured(decision.EvaluatorTouched.Says(list(changed)))
		}
	}
	limit, over := m.toMeasure()
	if over != "" {
		return evaluation.Result{Problem: over, OverLimit: true}, nil
	}
	request := evaluation.Request{
		Script: p.Script, Dir: m.tree.Dir, Env: m.environ, Timeout: p.EvaluationTimeout, Metric: p.Metric,
		Artifacts: m.artifacts,
		Offline:   !p.Network, Trusted: m.side == history.Baseline, Limit: limit, Fixed: m.fixed(),
	}
	for _, rail := range p.Guardrails {
		request.Names = append(request.Names, rail.Metric)
	}
	broken := m.side == history.Emptied || m.side == history.Garbled
	if m.side == history.Candidate || broken {
		request.ScriptTimeout = m.timeLimit()
	}
	if !m.ready {
		request.Setup, m.ready = p.Setup, true
	}
	var err error
	m.printed++
	if request.Keep, err = m.keptFile(evaluations, m.printed, string(m.side)); err != nil {
		return evaluation.Result{}, err
	}
	start := m.Now()
	given := m.given()
	outcome, err := m.Eval.Run(ctx, request)
	if spoilt := spoilt(given); spoilt != "" && ctx.Err() == nil {
		outcome.Problem, err = spoilt, nil
	}
	m.passed = err == nil && outcome.Problem == ""
	m.expend(outcome.Expense)
	if request.Setup != "" {
		m.prepare += m.Now().Sub(start) - outcome.Duration
	}
	if _, missing := os.Lstat(request.Keep); outcome.Problem != "" && !broken && m.failed == "" &&
		missing == nil {
		m.failed = request.Keep
	}
	return outcome, err
}

// given are the directories that a run is given to write in, with what they are.
func (m *environment) given() map[string]string {
	given := map[string]string{
		process.Getenv(m.environ, "HOME"): "its HOME", process.Getenv(m.environ, "TMPDIR"): "its TMPDIR",
		m.tree.Dir: "its tree",
	}
	maps.DeleteFunc(given, func(dir, _ string) bool {
		info, err := os.Lstat(dir)
		return err != nil || !info.IsDir()
	})
	return given
}

// spoilt says what the code that ran did to the directories that it was given, "" when they
// can be used. It opens what was closed, so that the rest can be looked at and removed.
func spoilt(given map[string]string) string {
	said := ""
	for dir, name := range given {
		info, err := os.Lstat(dir)
		switch {
		case err != nil:
			said = "what was evaluated removed " + name
		case !info.IsDir():
			said = "what was evaluated put something else in place of " + name
		case info.Mode().Perm()&0o700 != 0o700:
			said = "what was evaluated closed " + name
			_ = os.Chmod(dir, 0o700) // it is ours, and a directory
		}
	}
	return said
}

// bench is the two places in which a trial measures. A stage finds new environments
// for both sides, and the confirmation finds them exchanged, so that no side
// owes its number to what an earlier run left, nor to its directory alone. Both
// paths are equally long.
type bench struct {
	*measurer

	head         string // as which git shows the trees
	places       [2]string
	environments [2]*environment
}

func (r *measurer) newBench(head string) *bench {
	return &bench{measurer: r, head: head, places: [2]string{r.newDir("t"), r.newDir("t")}}
}

// environment returns the environment at a place, built for treeish when there is
// none yet.
func (b *bench) environment(ctx context.Context, place int, side history.Role, treeish string) (*environment, error) {
	if b.environments[place] == nil {
		made, err := b.newEnvironment(ctx, side, treeish, b.head, b.places[place])
		if err != nil {
			return nil, err
		}
		b.environments[place] = made
	}
	return b.environments[place], nil
}

// Close removes both environments.
func (b *bench) Close() {
	for i := range b.environments {
		b.environments[i].Close()
		b.environments[i] = nil
	}
}
