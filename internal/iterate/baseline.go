package iterate

import (
	"context"
	"fmt"

	"github.com/org/autoloop/internal/evaluate"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/ledger"
	"github.com/org/autoloop/internal/results"
	"github.com/org/autoloop/internal/state"
)

// baseline measures iteration 0 when the books have none that still holds:
// the default branch's tree with nothing changed and, when the program branch
// has commits of its own, the incumbent beside it. When neither can be measured
// the error is a *baselineError.
func (r *run) baseline(ctx context.Context, at *position) error {
	entries, err := r.entries(ctx, at.Head)
	if err != nil {
		return err
	}
	at.entries = entries
	if at.identity, err = r.identify(entries); err != nil {
		return err
	}
	why := r.needsBaseline(*at)
	if why == "" {
		return nil
	}
	r.step("baseline", why)
	base, err := r.evaluateCommit(ctx, at.Base)
	if err != nil {
		return err
	}
	head := base
	if at.Head != at.Base {
		if head, err = r.evaluateCommit(ctx, at.Head); err != nil {
			return err
		}
	}
	if problem := r.unusable(head); problem != "" {
		return &baselineError{problem}
	}
	if r.unusable(base) != "" {
		base = head
	}
	if err := r.recordBaseline(ctx, *at, base, head, why); err != nil {
		return err
	}
	at.Old, at.Move = r.moved(*at), false
	r.step("measured", head.Measurement.Metric.String())
	return nil
}

// baselineError says that the unchanged files cannot be measured.
type baselineError struct{ problem string }

func (e *baselineError) Error() string {
	return "the evaluation fails on the unchanged files: " + e.problem
}

// moved is the commit of the program branch after a recorded baseline.
func (r *run) moved(at position) string {
	if at.Move && !r.DryRun {
		return at.Head
	}
	return at.Old
}

// needsBaseline says why the books' numbers do not hold for this position, or
// "" when they do.
func (r *run) needsBaseline(at position) string {
	sum := &r.books.sum
	switch {
	case sum.Best == nil:
		return "first measurement"
	case sum.Direction.String() != r.Program.Direction.String():
		return fmt.Sprintf("the direction changed from %s to %s", sum.Direction, r.Program.Direction)
	case sum.Definition != at.identity.Definition:
		return "the program's evaluation changed"
	case sum.Base != at.Base && at.Note != "":
		return "the default branch moved on: " + at.Note
	case sum.Base != at.Base:
		return "the default branch moved on"
	case sum.Incumbent != at.Head:
		return "the program branch has commits that are not Autoloop's"
	case sum.Evaluator != at.identity.Evaluator:
		return "files of the evaluation changed"
	default:
		return ""
	}
}

// unusable says why an outcome is no baseline, or "".
func (r *run) unusable(outcome evaluate.Outcome) string {
	m := outcome.Measurement
	switch {
	case outcome.Problem != "":
		return outcome.Problem
	case m.Metric == nil && m.RejectedReason != "":
		return "not scored: " + m.RejectedReason
	case m.Metric == nil:
		return "not scored: it printed null"
	default:
		return r.standard().Implausible(*m.Metric)
	}
}

func (r *run) recordBaseline(ctx context.Context, at position, base, head evaluate.Outcome, why string) error {
	message := fmt.Sprintf("%s: baseline %s", r.Program.Name, head.Measurement.Metric)
	return r.write(ctx, message, at.branchUpdate(r.ref()), func(b *books) error {
		iteration, before := b.sum.Iteration, b.sum.Best
		first := ledger.Event{
			Kind: ledger.Measured, Iteration: iteration, Role: ledger.Baseline, Metric: base.Measurement.Metric, Numbers: base.Measurement.Numbers,
			Commit: at.Base, BaseBranch: at.BaseBranch, Evaluator: at.identity.Evaluator, Definition: at.identity.Definition,
			Direction: r.Program.Direction, Output: base.Tail, Seconds: base.Duration.Seconds(), Reason: why,
		}
		if err := r.add(b, first); err != nil {
			return err
		}
		if at.Head != at.Base {
			second := ledger.Event{
				Kind: ledger.Measured, Iteration: iteration, Role: ledger.Incumbent, Metric: head.Measurement.Metric, Numbers: head.Measurement.Numbers,
				Commit: at.Head, Output: head.Tail, Seconds: head.Duration.Seconds(),
			}
			if err := r.add(b, second); err != nil {
				return err
			}
		}
		changelog := results.InitialEvaluation
		notes := []string(nil)
		if before != nil {
			changelog = "New baseline: " + why
			notes = []string{why, fmt.Sprintf("the best before was %s", before)}
		}
		row := results.Row{Iteration: iteration, Time: r.Now(), Score: head.Measurement.Metric, Action: results.Baseline, Changelog: changelog}
		if err := b.table.Append(row, r.Program.Direction); err != nil {
			return err
		}
		b.doc.AddEntry(state.Entry{
			Iteration: iteration, Baseline: true, Time: r.Now(), RunURL: r.RunURL, Change: changelog, Metric: head.Measurement.Metric, Notes: notes,
		})
		return r.completeAtTarget(b)
	})
}

// evaluateCommit measures a commit or tree in a directory of its own.
func (r *run) evaluateCommit(ctx context.Context, treeish string) (evaluate.Outcome, error) {
	built, err := r.Trees.Build(ctx, treeish, r.newDir('t'), r.treeOptions(false))
	if err != nil {
		return evaluate.Outcome{}, err
	}
	defer func() { _ = built.Remove() }()
	home := r.newDir('h')
	environ, err := r.Environ(home, r.Program.Env)
	if err != nil {
		return evaluate.Outcome{}, err
	}
	p := r.Program
	return r.Eval.Run(ctx, evaluate.Request{
		Script: p.Script, Setup: p.Setup, Dir: built.Dir, Env: environ, Timeout: p.EvaluationTimeout, Metric: p.Metric,
		Artifacts: home,
	})
}

// branchEntry is the tracked file at path in the incumbent, nil when there is none.
func (p position) tracked(path string) *git.Entry {
	for i := range p.entries {
		if p.entries[i].Path == path {
			return &p.entries[i]
		}
	}
	return nil
}
