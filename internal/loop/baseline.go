package loop

import (
	"context"
	"fmt"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/program"
)

// ensureBaseline measures iteration 0 when the books have none that still holds:
// the default branch's tree with nothing changed and, when the program branch
// has commits of its own, the incumbent beside it. When neither can be measured
// the error is a *baselineError.
func (r *run) ensureBaseline(ctx context.Context, at *position) error {
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
	measure := r.measureBaseline
	if r.Suite != nil {
		measure = r.measureSuiteBaseline
	}
	found, err := measure(ctx, *at)
	if err != nil {
		return err
	}
	if err := r.recordBaseline(ctx, *at, found, why); err != nil {
		return err
	}
	at.Old, at.Move = r.moved(*at), false
	r.step("measured", found.head.median().String())
	return nil
}

// baselineError says why the unchanged files cannot be measured.
type baselineError struct{ problem string }

func (e *baselineError) Error() string { return e.problem }

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
	sum := &r.records.sum
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
	case r.Program.Evaluation != program.Tasks && r.rule().Regime == decision.Noisy && sum.InitialRuns < r.rule().Pairs:
		return "the evaluation turned out noisy"
	default:
		return ""
	}
}

func (r *run) recordBaseline(ctx context.Context, at position, found baseline, why string) error {
	first := found.base.event(history.Baseline)
	first.Reason, first.Noisy, first.Evaluation = why, found.noisy, r.takeExpense()
	measured := []history.Event{first}
	if at.Head != at.Base {
		measured = append(measured, found.head.event(history.Incumbent))
	}
	message := fmt.Sprintf("%s: baseline %s", r.Program.Name, found.head.median())
	return r.write(ctx, message, at.branchUpdate(r.ref()), func(b *records) error { return r.enterBaseline(b, at, measured) })
}

// enterBaseline puts what the unchanged files measured into the books: the
// default branch's first, and the incumbent's when it is another.
func (r *run) enterBaseline(b *records, at position, measured []history.Event) error {
	iteration, before := b.sum.Iteration, b.sum.Best
	first, last := measured[0], measured[len(measured)-1]
	why, noisy := first.Reason, first.Noisy
	first.BaseBranch = at.BaseBranch
	first.Evaluator, first.Definition, first.Direction = at.identity.Evaluator, at.identity.Definition, r.Program.Direction
	for i, e := range measured {
		e.Iteration, e.Commit = iteration, at.Head
		if i == 0 {
			e = first
			e.Iteration, e.Commit = iteration, at.Base
		}
		if err := r.add(b, e); err != nil {
			return err
		}
	}
	changelog, notes := results.InitialEvaluation, scatter(noisy, last.Samples)
	if before != nil {
		changelog = "New baseline: " + why
		notes = append([]string{why, fmt.Sprintf("the best before was %s", before)}, notes...)
	}
	row := results.Row{Iteration: iteration, Time: r.Now(), Score: last.Metric, Action: results.Baseline, Changelog: changelog}
	if err := b.table.Append(row, r.Program.Direction); err != nil {
		return err
	}
	b.doc.AddEntry(state.Entry{
		Iteration: iteration, Baseline: true, Time: r.Now(), RunURL: r.RunURL, Change: changelog, Metric: last.Metric, Notes: notes,
	})
	return r.completeAtTarget(b)
}

// tracked is the tracked file at path in the incumbent, nil when there is none.
func (p position) tracked(path string) *git.Entry {
	for i := range p.entries {
		if p.entries[i].Path == path {
			return &p.entries[i]
		}
	}
	return nil
}
