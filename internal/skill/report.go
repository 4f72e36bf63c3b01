package skill

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill/workspace"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
)

// BestVersion asks for the best version, whichever that is.
const BestVersion = -1

// graded is a workspace with the suite that its versions are graded by, and what was decided.
type graded struct {
	*workspace.Workspace
	suite *evalrun.Skill
	rows  []results.Row
}

func (v *Versions) graded(ctx context.Context) (g graded, err error) {
	table, err := v.Workspace.Results()
	if err != nil {
		return g, err
	}
	suite, err := v.Suite(ctx)
	return graded{v.Workspace, suite, table.Rows()}, err
}

// cases reads a version's cases, over all of its runs that a decision counts; none when
// it was not run.
func (g graded) cases(version int) (result evalrun.Result, err error) {
	_, last := standing(g.rows)
	dirs, err := VersionRuns(g.Workspace, version, last)
	if err == nil {
		result, err = evalrun.ReadAll(g.suite, dirs...)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return evalrun.Result{}, nil
	}
	return result, err
}

// title is what the skill is called: by itself, by its suite, or by the place that it is
// in.
func (g graded) title() string {
	if name := g.suite.Name; name != filepath.Base(g.suite.Dir) {
		return name
	}
	return cmp.Or(g.suite.Evals.SkillName, filepath.Base(cmp.Or(g.Skill, g.Dir)))
}

// Report puts the report together, with the patch to a version as it is.
func (v *Versions) Report(ctx context.Context, version int) (r render.SkillReport, patch []byte, err error) {
	g, err := v.graded(ctx)
	if err != nil {
		return r, nil, err
	}
	if version == BestVersion {
		version = render.Converge(g.rows, 0, g.Whole).BestVersion
	}
	start := startOf(g.rows)
	before, err := g.cases(start)
	if err != nil {
		return r, nil, err
	}
	after, err := g.cases(version)
	if err != nil {
		return r, nil, err
	}
	var lost []string // what the one version passed and the other does not
	if len(before.Cases) > 0 && len(after.Cases) > 0 {
		lost = decision.LostCases(ratesOf(before.Runs()), ratesOf(after.Runs()))
	}
	r = render.NewSkillReport(g.rows, lost, g.Whole)
	r.Notes = append(r.Notes, otherScore(before, g.rows, start)...)
	if version != start {
		r.Notes = append(r.Notes, otherScore(after, g.rows, version)...)
	}
	r.Skill, r.Workspace, r.Failures, r.Cases = g.title(), g.Dir, failuresOf(after.Cases), casesOf(before, after)
	if g.suite.Graded() {
		var feedback []render.SkillFeedback
		for _, c := range after.Cases {
			for _, text := range evalrun.Suggestions(c.Feedback()) {
				feedback = append(feedback, render.SkillFeedback{Case: c.ID, Text: text})
			}
		}
		r = r.WithGrader(feedback)
	}
	figures, err := g.triggerFigures()
	if err != nil {
		return r, nil, err
	}
	r = r.WithTriggers(figures)
	if version > 0 {
		original, err := v.version(ctx, 0)
		if err != nil {
			return r, nil, err
		}
		best, err := v.version(ctx, version)
		if err != nil {
			return r, nil, err
		}
		r.Changes = changesOf(original, best)
		if patch, err = v.patch(ctx, original, best); err != nil {
			return r, nil, err
		}
	}
	r.Diff = string(bytes.ToValidUTF8(patch, []byte("\ufffd")))
	return r, patch, nil
}

// otherScore says where the table has another score of a version than its gradings give:
// somebody else scored it, by gradings that do not answer the suite as it is.
func otherScore(found evalrun.Result, rows []results.Row, version int) []string {
	open := 0
	for _, c := range found.Cases {
		if open += len(c.Unanswered); c.Problem != "" {
			open += c.Total
		}
	}
	for _, row := range rows {
		if row.Iteration != version || row.Score == nil || open == 0 || found.Rate == nil {
			continue
		}
		if own := evals.RateValue(found.Rate); own.Cmp(*row.Score) != 0 {
			return []string{fmt.Sprintf("results.tsv says %s of v%d, and the cases below come to %s: its gradings "+
				"leave %s of the suite unanswered, which `iterate skill score` names",
				render.Figure(row.Score), version, render.Figure(&own),
				render.Count(open, "expectation", "expectations"))}
		}
	}
	return nil
}

// casesOf are the pass rates of the suite's cases before and after; none when
// neither was run.
func casesOf(before, after evalrun.Result) []render.SkillCase {
	var list []render.SkillCase
	for i := range max(len(before.Cases), len(after.Cases)) {
		var one render.SkillCase
		for _, side := range []struct {
			cases []evals.CaseScore
			to    **metric.Value
		}{{before.Cases, &one.Before}, {after.Cases, &one.After}} {
			if i < len(side.cases) {
				rate := evals.RateValue(side.cases[i].PassRate())
				one.ID, *side.to = side.cases[i].ID, &rate
			}
		}
		list = append(list, one)
	}
	return list
}

// startOf is the version that later ones are held against: the last that was
// measured without a change.
func startOf(rows []results.Row) int {
	start := 0
	for _, row := range rows {
		if row.Action == results.Baseline {
			start = row.Iteration
		}
	}
	return start
}

// ratesOf are the pass rates of cases in all runs of a version.
func ratesOf(made [][]evals.CaseScore) decision.CaseRates {
	runs := make([]map[string]metric.Value, len(made))
	for i, cases := range made {
		runs[i] = evals.CaseNumbers(cases)
	}
	return decision.RatesOf(runs...)
}

func failuresOf(cases []evals.CaseScore) []render.SkillFailure {
	failures := []render.SkillFailure{}
	for _, c := range cases {
		if c.Problem != "" {
			failures = append(failures, render.SkillFailure{Case: c.ID, Text: "the whole case", Evidence: c.Problem})
			continue
		}
		for _, failed := range c.Failed {
			failures = append(failures, render.SkillFailure{Case: c.ID, Text: failed.Text, Evidence: failed.Evidence})
		}
	}
	return failures
}
