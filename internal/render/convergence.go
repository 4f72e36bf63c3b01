package render

import (
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
)

// stuckReverts is how many reverts in a row are stuck.
const stuckReverts = 3

// Class is how a skill's improvement went.
type Class string

// converge classifies a table of iterations.
func converge(r *SkillReport, rows []results.Row, whole bool) {
	r.Gain = "0"
	tail := 0 // reverts at the end
	for _, row := range rows {
		switch row.Action {
		case results.Baseline:
			r.Start, r.Best, r.BestVersion, r.Kept, r.Reverted, tail = row.Score, row.Score, row.Iteration, 0, 0, 0
		case results.Kept:
			r.Kept++
			tail = 0
			r.Best, r.BestVersion = row.Score, row.Iteration
		case results.Reverted:
			r.Reverted++
			tail++
		}
	}
	if r.Best != nil && r.Start != nil {
		r.Gain = metric.Delta(*r.Best, r.Start)
	}
	switch {
	case len(rows) == 0:
		says(r, "no-gain", "continue", "nothing was measured yet: run it again")
	case perfect(r.Start):
		says(r, "perfect-baseline", "investigate", "the original passes everything: there is nothing to apply, and the "+
			"suite cannot show an improvement; add harder cases")
	case perfect(r.Best):
		says(r, "perfect", "apply", "the best version passes everything")
	case tail >= stuckReverts && !whole:
		says(r, "stuck", "investigate", "three reverts in a row ended it")
		r.NextSteps = []string{
			"recalibrate the evals: look for expectations that no version passes, or that are a matter of taste; " +
				"`iterate log WORKSPACE --html FILE` shows what always came out the same",
			"edit the skill by hand where the remaining failures point, and begin a new workspace with --fresh",
			"run again, perhaps with another agent or model",
		}
	case r.Kept > 0 && tail >= 2:
		says(r, "plateau", "apply", "it gained, and the last iterations found nothing more")
	case r.Kept > r.Reverted:
		says(r, "rapid", "continue", "most changes were kept: more iterations are likely to gain more")
	case r.Kept > 0:
		says(r, "improving", "continue", "it still gains")
	default:
		says(r, "no-gain", "reject", "nothing was kept: there is nothing to apply")
	}
	if len(r.RegressedCases) > 0 && r.BestVersion > 0 {
		says(r, r.Class, "investigate", "the best version lost cases that the original passes")
	}
}

func perfect(value *metric.Value) bool { return value != nil && value.Cmp(metric.FromInt(1)) >= 0 }

func says(r *SkillReport, class Class, what, why string) {
	r.Class, r.Recommendation, r.Reason = class, what, why
}
