package loop

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// Suite measures programs whose evaluation is a suite of tasks. A candidate is
// held against the incumbent as a whole, task by task, and not by its metric
// alone. Directories are trees of the repository.
type Suite interface {
	// Run runs the suite for the incumbent's tree, and for that of a candidate beside it when
	// there is one. With an error Suited has its Expense alone.
	Run(ctx context.Context, limit metric.Limit, trees ...string) (Suited, error)
}

// Suited is the result of a suite.
type Suited struct {
	// Incumbent and Candidate are the metrics of the sides.
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

	changed []string // files outside the target that were written to meanwhile
}

// measureSuiteBaseline measures iteration 0 of a suite.
func (r *measurer) measureSuiteBaseline(ctx context.Context, at position) (measured []*history.Measured, err error) {
	for _, commit := range slices.Compact([]string{at.Head, at.Base}) {
		suited, e, err := r.runSuite(ctx, subject{role: history.Baseline, treeish: commit})
		if err != nil {
			return nil, err
		}
		if problem := cmp.Or(suited.Problem, suited.Unfinished); problem != "" {
			return nil, unmeasured(decision.SuiteFails.Says(problem))
		}
		e.Metric, e.Samples = suited.Incumbent, []metric.Value{*suited.Incumbent}
		measured = append([]*history.Measured{e}, measured...)
	}
	return measured, nil
}

// runSuite runs the suite with what is left of the budget, and notes what it used. What it
// measured has no metric yet.
func (r *measurer) runSuite(ctx context.Context, sides ...subject) (suited Suited, e *history.Measured, err error) {
	limit, over := r.toMeasure()
	if over != "" {
		return Suited{Unfinished: over}, nil, nil
	}
	e = &history.Measured{}
	var trees []*tree.Tree
	var dirs []string
	for _, side := range sides {
		env, err := r.newEnvironment(ctx, side, r.newDir("t"))
		if err != nil {
			return suited, e, err
		}
		defer env.Close()
		trees, dirs = append(trees, env.tree), append(dirs, env.tree.Dir)
		e.Prepare = max(e.Prepare, env.prepare.Seconds())
	}
	start := r.Now()
	suited, err = r.Suite.Run(ctx, limit, dirs...)
	r.expend(suited.Expense)
	e.Output, e.Seconds = suited.Output, r.Now().Sub(start).Seconds()
	for _, tree := range trees { // which the suite only reads itself
		suited.changed = slices.AppendSeq(suited.changed, maps.Keys(tree.Touched(r.evaluatorFile)))
	}
	return suited, e, err
}

// measureSuite holds the candidate against the incumbent.
func (r *measurer) measureSuite(ctx context.Context, at position, a *attempt) error {
	r.step("measure", "the suite for incumbent and candidate")
	suited, e, err := r.runSuite(ctx, subject{role: history.Incumbent, treeish: at.Head},
		subject{role: history.Candidate, treeish: a.tree})
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
	case len(suited.changed) > 0:
		slices.Sort(suited.changed)
		a.end(history.Rejected, decision.EvaluatorChanged.Says(plain.List(slices.Compact(suited.changed), maxListed)))
		return nil
	}
	e.Role, e.Metric, e.Evaluator, e.Prepare = history.Candidate, suited.Candidate, at.Evaluator, 0
	a.measured = append(a.measured, e)
	d := r.suiteDecision(suited)
	a.decide(d)
	a.end(outcomeOf(d), d.Reasons...)
	return nil
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
	return d
}
