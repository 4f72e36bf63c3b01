package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/workspace"
)

// skillResult is `iterate skill PATH --json`.
type skillResult struct {
	Schema      int         `json:"schema"`
	Name        string      `json:"name"`
	Ended       skill.Ended `json:"ended"`
	Workspace   string      `json:"workspace"`
	BestVersion int         `json:"best_version"`
	// Iterations are those of this run; the report has them all.
	Iterations []skillIteration `json:"iterations"`
	// Applied says that the skill is the best version at the end of this run.
	Applied bool               `json:"applied"`
	Report  render.SkillReport `json:"report"`
}

type skillIteration struct {
	Iteration int            `json:"iteration"`
	Score     *metric.Value  `json:"score"` // null when nothing was measured
	Action    results.Action `json:"action"`
	Changelog string         `json:"changelog"`
}

// changeWidth bounds what is said of a change and of what became of it.
const changeWidth = 300

// add takes an iteration that ended, and returns a line about it.
func (r *skillResult) add(row results.Row) string {
	r.Iterations = append(r.Iterations, skillIteration{row.Iteration, row.Score, row.Action, row.Changelog})
	value := "not measured"
	if row.Score != nil {
		value = render.ShortValue(row.Score)
	}
	return fmt.Sprintf("iteration %d: %s, %s: %s", row.Iteration, row.Action, value, render.Short(plain.Short(row.Changelog, changeWidth)))
}

// text is where a run says what it does.
func (o *skillRunOptions) text(env Env) io.Writer {
	if o.json {
		return env.Stderr
	}
	return env.Stdout
}

// conclude shows the report, asks whether the best version is to be applied,
// and prints the result.
func (o *skillRunOptions) conclude(ctx context.Context, env Env, w *workspace.Workspace, result skillResult) error {
	speaking := env
	speaking.Stdout = o.text(env)
	versions := versionsOf(speaking, w)
	var err error
	if result.Applied, err = versions.Offer(ctx, o.yes); err != nil || !o.json {
		return err
	}
	if result.Report, _, err = versions.Report(ctx, skill.BestVersion); err != nil {
		return err
	}
	return printJSON(env, result)
}
