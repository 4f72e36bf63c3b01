package render

import (
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
)

// stuckReverts is how many reverts in a row are stuck.
const stuckReverts = 3

// Class is how a skill's improvement went: the first that fits, see Converge.
type Class string

// Convergence is what a table of iterations of a skill says.
type Convergence struct {
	Class Class `json:"class"`
	// Start is the original's score, Best the best version's, nil when the
	// original was never measured; Gain is their difference with its sign.
	Start *metric.Value `json:"start"`
	Best  *metric.Value `json:"best"`
	Gain  string        `json:"gain"`
	// BestVersion is the iteration of the best version, 0 for the original.
	BestVersion    int    `json:"best_version"`
	Kept           int    `json:"kept"`
	Reverted       int    `json:"reverted"`
	Recommendation string `json:"recommendation"`
	Reason         string `json:"reason"`
	// NextSteps are for a person, in order.
	NextSteps []string `json:"next_steps"`
}

// Converge classifies a table of iterations. lost counts the cases that the
// original passed and the best version does not; whole says that the last run had
// all the iterations that were asked for, and was not ended by its reverts.
func Converge(rows []results.Row, lost int, whole bool) Convergence {
	c := Convergence{Gain: "0", NextSteps: []string{}}
	tail := 0 // reverts at the end
	for _, row := range rows {
		switch row.Action {
		case results.Baseline:
			c.Start, c.Best, c.BestVersion, c.Kept, c.Reverted, tail = row.Score, row.Score, row.Iteration, 0, 0, 0
		case results.Kept:
			c.Kept++
			tail = 0
			c.Best, c.BestVersion = row.Score, row.Iteration
		case results.Reverted:
			c.Reverted++
			tail++
		}
	}
	if c.Best != nil && c.Start != nil {
		c.Gain = metric.Delta(*c.Best, c.Start)
	}
	switch {
	case len(rows) == 0:
		c.says("no-gain", "continue", "nothing was measured yet: run it again")
	case perfect(c.Start):
		c.says("perfect-baseline", "investigate", "the original passes everything: there is nothing to apply, and the suite "+
			"cannot show an improvement; add harder cases")
	case perfect(c.Best):
		c.says("perfect", "apply", "the best version passes everything")
	case tail >= stuckReverts && !whole:
		c.says("stuck", "investigate", "three reverts in a row ended it")
		c.NextSteps = []string{
			"recalibrate the evals: look for expectations that no version passes, or that are a matter of taste; " +
				"`iterate doctor SKILL --history WORKSPACE` names what always came out the same",
			"edit the skill by hand where the remaining failures point, and begin a new workspace with --fresh",
			"run again, perhaps with another agent or model",
		}
	case c.Kept > 0 && tail >= 2:
		c.says("plateau", "apply", "it gained, and the last iterations found nothing more")
	case c.Kept > c.Reverted:
		c.says("rapid", "continue", "most changes were kept: more iterations are likely to gain more")
	case c.Kept > 0:
		c.says("improving", "continue", "it still gains")
	default:
		c.says("no-gain", "reject", "nothing was kept: there is nothing to apply")
	}
	if lost > 0 && c.BestVersion > 0 {
		c.says(c.Class, "investigate", "the best version lost cases that the original passes")
	}
	return c
}

func perfect(value *metric.Value) bool { return value != nil && value.Cmp(metric.FromInt(1)) >= 0 }

func (c *Convergence) says(class Class, what, why string) {
	c.Class, c.Recommendation, c.Reason = class, what, why
}
