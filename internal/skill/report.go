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
	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/evalrun"
)

// BestVersion asks for the best version, whichever that is.
const BestVersion = -1

// Report puts the report together, with the patch to a version as it is.
func (v *Versions) Report(ctx context.Context, version int) (r render.SkillReport, patch []byte, err error) {
	table, err := v.Results()
	if err != nil {
		return r, nil, err
	}
	suite, err := v.Suite(ctx)
	if err != nil {
		return r, nil, err
	}
	if version == BestVersion {
		version = table.Best
	}
	var sides [2]evalrun.Result
	for i, n := range []int{table.Start, version} {
		dirs, err := VersionRuns(v.Workspace, n, table.Last)
		if err == nil {
			sides[i], err = evalrun.ReadAll(suite, dirs...)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // it was not run
			return r, nil, err
		}
		if i == 0 || n != table.Start {
			r.Notes = append(r.Notes, otherScore(sides[i], table.Row(n))...)
		}
	}
	before, after := sides[0], sides[1]
	if len(before.Cases) > 0 && len(after.Cases) > 0 { // what the one version passed and the other does not
		r.RegressedCases = decision.LostCases(ratesOf(before.Runs), ratesOf(after.Runs))
	}
	r.Workspace, r.Skill = v.Dir, suite.Name
	if suite.Name == filepath.Base(suite.Dir) { // it does not say its name
		r.Skill = filepath.Base(cmp.Or(v.Skill, v.Dir))
	}
	for i := range max(len(before.Cases), len(after.Cases)) {
		r.Cases = append(r.Cases, render.SkillCase{
			ID: suite.Cases[i].ID, Before: rateOf(before, i), After: rateOf(after, i),
		})
	}
	r.Failures = failuresOf(after.Cases)
	if suite.Graded() {
		r.Feedback = evalrun.Feedback(after.Cases)
	}
	if r.Triggers, err = triggersIn(v.Workspace, suite, table.Rows); err != nil {
		return r, nil, err
	}
	if version > 0 {
		original, err := Verify(ctx, v.Version(0))
		if err != nil {
			return r, nil, err
		}
		wanted, err := Verify(ctx, v.Version(version))
		if err != nil {
			return r, nil, err
		}
		r.Changes = changesOf(original, wanted)
		if patch, err = v.patch(ctx, original, wanted); err != nil {
			return r, nil, err
		}
	}
	r.Diff = string(bytes.ToValidUTF8(patch, []byte("\ufffd")))
	return render.NewSkillReport(r, table.Rows, v.Whole, suite.Graded()), patch, nil
}

// otherScore says where the table has another score of a version than its gradings give:
// somebody else scored it, by gradings that do not answer the suite as it is.
func otherScore(found evalrun.Result, row *results.Row) []string {
	open := 0
	for _, c := range found.Cases {
		if open += len(c.Unanswered); c.Problem != "" {
			open += c.Total
		}
	}
	if row == nil || row.Score == nil || open == 0 { // nothing is open where it was not run
		return nil
	}
	if found.Rate.Cmp(*row.Score) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("results.tsv says %s of v%d, and the cases below come to %s: its gradings "+
		"leave %s of the suite unanswered, which `iterate skill score` names",
		render.Figure(row.Score), row.Iteration, render.Figure(&found.Rate),
		render.Count(open, "expectation"))}
}

// rateOf is the pass rate of a case; nil where it was not run.
func rateOf(r evalrun.Result, i int) *metric.Value {
	if i >= len(r.Cases) {
		return nil
	}
	return new(r.Cases[i].PassRate())
}

// ratesOf are the pass rates of cases in all runs of a version.
func ratesOf(made [][]suite.CaseScore) decision.CaseRates {
	return decision.RatesOf(lists.Map(made, suite.CaseNumbers)...)
}

func failuresOf(cases []suite.CaseScore) []render.SkillFailure {
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

// triggersIn are the figures of the trigger queries of the versions for which they were run.
func triggersIn(w *Workspace, of *evalrun.Skill, rows []results.Row) ([]render.SkillTriggers, error) {
	list, queries := []render.SkillTriggers{}, of.TriggerSuite()
	for _, row := range rows {
		if row.Action == results.Reverted || queries == nil {
			continue
		}
		found, err := evalrun.ReadAll(queries, triggersOf(w, row.Iteration))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		figure := render.SkillTriggers{
			Version: row.Iteration, Score: found.Rate,
			Total: len(found.Cases), Failures: []render.SkillFailure{},
		}
		for i, c := range found.Cases {
			figure.Right += c.Passed
			for _, failure := range failuresOf(found.Cases[i : i+1]) {
				failure.Text = fmt.Sprintf("%s: %s", of.Triggers[i].Prompt, failure.Text)
				figure.Failures = append(figure.Failures, failure)
			}
		}
		list = append(list, figure)
	}
	return list, nil
}
