package loop

import (
	"cmp"
	"context"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
)

// Suite measures programs whose evaluation is a suite of tasks. A candidate is
// held against the incumbent as a whole, task by task, and not by its metric
// alone. Directories are trees of the repository.
type Suite interface {
	// Measure runs the suite for one tree. With an error Suited has its Expense
	// alone.
	Measure(ctx context.Context, dir string, limit evaluation.Limit) (Suited, error)
	// Compare runs it for both trees.
	Compare(ctx context.Context, incumbent, candidate string, limit evaluation.Limit) (Suited, error)
}

// Suited is the result of a suite.
type Suited struct {
	// Incumbent and Candidate are the metrics of the sides; a Measure has the
	// first alone.
	Incumbent, Candidate *metric.Value
	// Verdict is Improved only for what may be promoted.
	Verdict decision.Verdict
	Reasons []string
	// Output is what the incumbent's agent should know for its next proposal.
	Output string
	// Noisy says that another run could have come out otherwise.
	Noisy bool
	// Problem says why nothing was measured, such as a fault of the suite.
	Problem string
	// Unfinished says why the suite was not run to its end through no fault of its
	// own or of a side, such as the limit.
	Unfinished string
	// Expense is what the models used that the suite asked; nil when it asked none.
	Expense *history.Expense
}

// measureSuiteBaseline measures iteration 0 of a suite.
func (r *measurer) measureSuiteBaseline(ctx context.Context, at position) ([]*history.Measured, error) {
	head, err := r.measuredBySuite(ctx, at.Head)
	if err != nil || at.Head == at.Base {
		return []*history.Measured{head}, err
	}
	base, err := r.measuredBySuite(ctx, at.Base)
	return []*history.Measured{base, head}, err
}

func (r *measurer) measuredBySuite(ctx context.Context, commit string) (*history.Measured, error) {
	env, err := r.newEnvironment(ctx, history.Baseline, commit, "", r.newDir("t"))
	if err != nil {
		return nil, err
	}
	defer env.Close()
	start := r.Now()
	suited, err := r.runSuite(func(limit evaluation.Limit) (Suited, error) {
		return r.Suite.Measure(ctx, env.tree.Dir, limit)
	})
	if err != nil {
		return nil, err
	}
	if problem := cmp.Or(suited.Problem, suited.Unfinished); problem != "" {
		return nil, unmeasured(decision.SuiteFails.Says(problem))
	}
	return &history.Measured{
		Metric: suited.Incumbent, Samples: []metric.Value{*suited.Incumbent}, Output: suited.Output,
		Seconds: r.Now().Sub(start).Seconds(), Prepare: env.prepare.Seconds(),
	}, nil
}

// runSuite runs the suite with what is left of the budget, and notes what it
// used.
func (r *measurer) runSuite(run func(evaluation.Limit) (Suited, error)) (Suited, error) {
	limit, over := r.toMeasure()
	if over != "" {
		return Suited{Unfinished: over}, nil
	}
	suited, err := run(limit)
	r.expend(suited.Expense)
	return suited, err
}

// measureSuite holds the candidate against the incumbent.
func (r *measurer) measureSuite(ctx context.Context, at position, a *attempt) error {
	bench := r.newBench("")
	defer bench.Close()
	incumbent, err := bench.environment(ctx, 0, history.Incumbent, at.Head)
	if err != nil {
		return err
	}
	candidate, err := bench.environment(ctx, 1, history.Candidate, a.tree)
	if err != nil {
		return err
	}
	r.step("measure", "the suite for incumbent and candidate")
	start := r.Now()
	suited, err := r.runSuite(func(limit evaluation.Limit) (Suited, error) {
		return r.Suite.Compare(ctx, incumbent.tree.Dir, candidate.tree.Dir, limit)
	})
	a.Durations["measure"] = r.Now().Sub(start).Seconds()
	if err != nil {
		return err
	}
	a.Noisy = suited.Noisy
	switch {
	case suited.Problem != "":
		a.end(history.Rejected, decision.Say(suited.Problem))
		return nil
	case suited.Unfinished != "":
		a.end(history.Error, decision.SuiteUnfinished.Says(suited.Unfinished))
		return nil
	}
	if changed := r.changedInSuite(incumbent, candidate); len(changed) > 0 {
		a.end(history.Rejected, decision.EvaluatorChanged.Says(list(changed)))
		return nil
	}
	a.measured = append(a.measured, &history.Measured{
		Role: history.Candidate, Metric: suited.Candidate,
		Output: suited.Output, Seconds: a.Durations["measure"], Evaluator: at.Evaluator,
	})
	d := r.suiteDecision(suited)
	a.decide(d)
	a.end(outcomeOf(d), d.Reasons...)
	return nil
}

// changedInSuite are the files outside the target that were written to while the
// suite worked with both trees, which it only reads itself.
func (r *measurer) changedInSuite(sides ...*environment) (changed []string) {
	for _, side := range sides {
		for _, one := range side.tree.Touched(r.evaluatorFile()) {
			changed = append(changed, one.Path)
		}
	}
	slices.Sort(changed)
	return slices.Compact(changed)
}

// suiteDecision is a suite's verdict as one of the loop: the best afterwards is
// the candidate's metric, as it was measured beside the incumbent's.
func (r *measurer) suiteDecision(s Suited) decision.Decision {
	d := decision.Decision{
		Verdict: s.Verdict, Reasons: decision.Says(s.Reasons...), Metric: s.Candidate,
		Previous: s.Incumbent, Best: r.records.Best,
	}
	if s.Candidate != nil {
		d.Delta = metric.Delta(*s.Candidate, s.Incumbent)
	}
	if len(d.Reasons) == 0 {
		d.Reasons = []decision.Reason{{Kind: decision.SuiteSays, Term: string(s.Verdict)}}
	}
	if s.Verdict == decision.Improved {
		d.Best = s.Candidate
	}
	d.TargetMet = d.Best != nil && r.Program.Direction.TargetMet(*d.Best, r.records.target())
	return d
}
