package skill

import (
	"context"
	"slices"

	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/render/page"
	"github.com/org/autoloop/internal/suite/evalrun"
)

// Page is a report with the cases of every graded version.
func (v *Versions) Page(ctx context.Context, r render.SkillReport) (shown page.Skill, err error) {
	g, err := v.graded(ctx)
	if err != nil {
		return shown, err
	}
	shown = page.Skill{Report: r, Feedback: map[string][]string{}}
	for _, row := range g.rows {
		graded, err := g.cases(row.Iteration)
		if err != nil {
			return shown, err
		}
		if len(graded.Cases) == 0 {
			continue
		}
		shown.Columns = append(shown.Columns, page.Column{
			Version: row.Iteration, Kept: row.Action != results.Reverted, Cases: graded.Cases,
		})
		for _, c := range graded.Cases {
			for _, text := range evalrun.Suggestions(c.Feedback()) {
				if !slices.Contains(shown.Feedback[c.ID], text) {
					shown.Feedback[c.ID] = append(shown.Feedback[c.ID], text)
				}
			}
		}
	}
	runs, err := g.triggerRuns()
	if err != nil || len(runs) == 0 {
		return shown, err
	}
	for i, trigger := range g.suite.Triggers {
		query := page.Query{Text: trigger.Query, Should: trigger.ShouldTrigger}
		for _, run := range runs {
			query.Right = append(query.Right, run.Cases[i].Perfect())
		}
		shown.Queries = append(shown.Queries, query)
	}
	return shown, nil
}
