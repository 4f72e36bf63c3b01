package skill

import (
	"context"
	"slices"

	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/render/page"
	"github.com/org/autoloop/internal/skill/workspace"
	"github.com/org/autoloop/internal/suite/evalrun"
)

// Page is a report with the cases of every graded version.
func (v *Versions) Page(ctx context.Context, r render.SkillReport) (shown page.Skill, err error) {
	w := v.Workspace
	table, err := w.Results()
	if err != nil {
		return shown, err
	}
	suited, err := v.Suite(ctx)
	if err != nil {
		return shown, err
	}
	shown = page.Skill{Report: r, Feedback: map[string][]string{}}
	rows := table.Rows()
	for _, row := range rows {
		graded, err := gradedCases(suited, w, row.Iteration, rows)
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
	if shown.Queries, err = pageQueries(suited, w, rows); err != nil {
		return shown, err
	}
	return shown, nil
}

// pageQueries are the trigger queries with what came of each for every version.
func pageQueries(suited *evalrun.Skill, w *workspace.Workspace, rows []results.Row) ([]page.Query, error) {
	queries := suited.TriggerSuite()
	if queries == nil {
		return nil, nil
	}
	runs, err := triggerRuns(queries, w, rows)
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	var list []page.Query
	for i, trigger := range suited.Triggers {
		query := page.Query{Text: trigger.Query, Should: trigger.ShouldTrigger}
		for _, run := range runs {
			query.Right = append(query.Right, run.Cases[i].Perfect())
		}
		list = append(list, query)
	}
	return list, nil
}
