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
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
)

// subject is what is measured: a commit or a tree in a role.
type subject struct {
	role decision.Side
	// treeish is what its tree is built from, and head the commit as which git shows it, "" for
	// no git.
	treeish, head string
	// change changes a tree that was built, before it is measured; nil changes nothing.
	change func(dir string) error
}

// subjectOf is a commit in a role.
func subjectOf(role decision.Side, commit string) subject {
	return subject{role: role, treeish: commit, head: commit}
}

// environment is where a subject is measured: a tree, with the home and temporary
// directory of its runs. Setup runs before the first of them.
type environment struct {
	*measurer
	subject

	tree *tree.Tree
	home string
	// artifacts is for what we write about the runs, where they cannot.
	artifacts string
	environ   []string
	// given are the directories that its runs may write in, and could before the first.
	given map[string]string
	// ready says that the evaluation ran in it, passed that the last run did not fail.
	ready, passed bool
	// prepare is how long building and setup took.
	prepare time.Duration
}

// measurer runs the evaluation in measurement environments.
type measurer struct {
	*spending
	// printed counts what evaluations printed; failed is the file of the first that failed.
	printed int
	failed  string
	// own are the files outside the target that the evaluation of the unchanged files changes
	// itself, true for another content; nil while that is not known.
	own map[string]bool
	// toldAbsent says that people know which submodules are not checked out.
	toldAbsent bool
	// once says that the evaluation cannot run twice in one tree, so that each run gets a
	// new one.
	once bool
}

// newEnvironment builds an environment for a subject at dir, which must not exist.
func (r *measurer) newEnvironment(ctx context.Context, of subject, dir string) (*environment, error) {
	start := r.Now()
	built, err := r.Trees.Build(ctx, of.treeish, dir, tree.Options{
		Head: of.head, Share: r.Program.Share, Measured: true,
	})
	if err != nil {
		return nil, err
	}
	made := &environment{measurer: r, subject: of, tree: built, home: r.newDir("h"), artifacts: r.newDir("a")}
	made.environ, err = r.Environ(made.home, r.Program.Env)
	if err == nil && r.Configure != nil {
		err = r.Configure(made.home)
	}
	if err == nil {
		err = os.MkdirAll(made.artifacts, 0o700)
	}
	if err == nil && of.change != nil {
		err = of.change(built.Dir)
	}
	if err != nil {
		made.Close()
		return nil, err
	}
	made.given = map[string]string{
		"HOME": process.Getenv(made.environ, "HOME"), "TMPDIR": process.Getenv(made.environ, "TMPDIR"), "tree": built.Dir,
	}
	maps.DeleteFunc(made.given, func(_, dir string) bool { return spoilt(dir) != "" }) // a link that `env` names
	if len(built.Absent) > 0 && !r.toldAbsent {
		r.toldAbsent = true
		r.step("submodules", "%s: not checked out, so empty here too (git submodule update --init)",
			plain.List(built.Absent, maxListed))
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
	m.remove(m.home)
	m.remove(m.artifacts)
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
	made, err := m.newEnvironment(ctx, m.subject, m.tree.Dir)
	if err != nil {
		return evaluation.Result{}, err
	}
	*m = *made
	return m.run(ctx)
}

// run runs the evaluation once in the tree as it is.
func (m *environment) run(ctx context.Context) (evaluation.Result, error) {
	p := m.Program
	if m.own != nil && !m.Isolated { // else others of our user cannot reach them
		changed := slices.DeleteFunc(m.tree.Altered(m.evaluatorFile),
			func(path string) bool { _, does := m.own[path]; return does }) // the evaluation itself
		if len(changed) > 0 {
			return evaluation.Result{}, unmeasured(decision.EvaluatorTouched.Says(plain.List(changed, maxListed)))
		}
	}
	limit, over := m.toMeasure()
	if over != "" {
		return evaluation.Result{Problem: over, OverLimit: true}, nil
	}
	m.printed++
	keep, err := m.keptFile(evaluations, m.printed, string(m.role))
	if err != nil {
		return evaluation.Result{}, err
	}
	request := evaluation.Request{
		Script: p.Script, Dir: m.tree.Dir, Env: m.environ, Timeout: p.EvaluationTimeout, Metric: p.Metric,
		Artifacts: m.artifacts, Keep: keep, Offline: !p.Network, Trusted: m.role == history.Baseline, Limit: limit,
		Fixed: m.fixed(),
	}
	for _, rail := range p.Guardrails {
		request.Names = append(request.Names, rail.Metric)
	}
	broken := m.role == decision.Emptied || m.role == decision.Garbled
	if m.role == history.Candidate || broken {
		request.ScriptTimeout = m.timeLimit()
	}
	if !m.ready {
		request.Setup, m.ready = p.Setup, true
	}
	start := m.Now()
	outcome, err := m.Eval.Run(ctx, request)
	for name, dir := range m.given {
		did := spoilt(dir)
		if did == closed {
			_ = os.Chmod(dir, 0o700) // it is ours, and what is in it can be looked at and removed again
		}
		if did != "" && ctx.Err() == nil {
			outcome.Problem, err = "what was evaluated "+did+" its "+name, nil
		}
	}
	m.passed = err == nil && outcome.Problem == ""
	m.expend(outcome.Expense)
	if request.Setup != "" {
		m.prepare += m.Now().Sub(start) - outcome.Duration
	}
	if _, missing := os.Lstat(keep); outcome.Problem != "" && !broken && m.failed == "" && missing == nil {
		m.failed = keep
	}
	return outcome, err
}

const closed = "closed"

// spoilt says what was done to a directory, "" when it can be used.
func spoilt(dir string) string {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return "removed"
	case !info.IsDir():
		return "put something else in place of"
	case info.Mode().Perm()&0o700 != 0o700:
		return closed
	}
	return ""
}

// bench is two places in which something is measured, and what that gave. A stage of a trial
// finds new environments for both sides, and the confirmation finds them exchanged, so that no
// side owes its number to what an earlier run left, nor to its directory alone. Both
// paths are equally long.
type bench struct {
	*measurer

	places       [2]string
	environments [2]*environment
	taken        map[decision.Side]*samples
}

func (r *measurer) newBench() *bench {
	return &bench{
		measurer: r, places: [2]string{r.newDir("t"), r.newDir("t")}, taken: map[decision.Side]*samples{},
	}
}

// once runs the evaluation for a subject at a place, whose environment the first run there makes.
func (b *bench) once(ctx context.Context, place int, of subject) (
	env *environment, outcome evaluation.Result, err error,
) {
	if b.environments[place] == nil {
		b.environments[place], err = b.newEnvironment(ctx, of, b.places[place])
	}
	if env = b.environments[place]; err == nil {
		outcome, err = env.evaluate(ctx)
	}
	return env, outcome, err
}

// samples are those of a role.
func (b *bench) samples(role decision.Side) *samples {
	if b.taken[role] == nil {
		b.taken[role] = &samples{}
	}
	return b.taken[role]
}

// Close removes both environments.
func (b *bench) Close() {
	for i := range b.environments {
		b.environments[i].Close()
		b.environments[i] = nil
	}
}
