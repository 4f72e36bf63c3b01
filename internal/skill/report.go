package skill

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"path/filepath"
	"unicode/utf8"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill/evalrun"
	"github.com/org/autoloop/internal/skill/evals"
	"github.com/org/autoloop/internal/skill/workspace"
)

// BestVersion asks for the best version, whichever that is.
const BestVersion = -1

// Report puts the report together, with the patch to a version as it is.
func (v *Versions) Report(ctx context.Context, version int) (r render.SkillReport, patch []byte, err error) {
	w := v.Workspace
	table, err := w.Results()
	if err != nil {
		return r, nil, err
	}
	rows := table.Rows()
	if version == BestVersion {
		version = render.Converge(rows, 0, w.Whole).BestVersion
	}
	suited, err := v.Suite(ctx)
	if err != nil {
		return r, nil, err
	}
	before, err := gradedCases(suited, w, startOf(rows), rows)
	if err != nil {
		return r, nil, err
	}
	after, err := gradedCases(suited, w, version, rows)
	if err != nil {
		return r, nil, err
	}
	r = render.NewSkillReport(rows, lostCases(before, after), w.Whole)
	r.Skill, r.Workspace, r.Failures, r.Cases = skillTitle(suited, w), w.Dir, failuresOf(after.Cases), casesOf(before, after)
	if suited.Graded() {
		r = r.WithGrader(feedbackOf(after))
	}
	figures, err := triggerFigures(suited, w, rows)
	if err != nil {
		return r, nil, err
	}
	r = r.WithTriggers(figures)
	patch, r.Changes, err = v.versionPatch(ctx, version)
	if err != nil {
		return r, nil, err
	}
	if r.Diff = string(patch); !utf8.Valid(patch) {
		r.Diff, r.DiffBase64 = string(bytes.ToValidUTF8(patch, []byte("\ufffd"))), base64.StdEncoding.EncodeToString(patch)
	}
	return r, patch, nil
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

// feedbackOf is what graders say of the suite.
func feedbackOf(result evalrun.Result) []render.SkillFeedback {
	var list []render.SkillFeedback
	for _, c := range result.Cases {
		for _, text := range evalrun.Suggestions(result.Feedback[c.ID]) {
			list = append(list, render.SkillFeedback{Case: c.ID, Text: text})
		}
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

// skillTitle is what the skill is called: by itself, by its suite, or by the
// place that it is in.
func skillTitle(skill *evalrun.Skill, w *workspace.Workspace) string {
	switch {
	case skill.Name != filepath.Base(skill.Dir):
		return skill.Name
	case skill.Evals.SkillName != "":
		return skill.Evals.SkillName
	default:
		return filepath.Base(cmp.Or(w.Skill, w.Dir))
	}
}

// gradedCases reads a version's cases, over all of its runs that a decision
// counts; none when it was not run.
func gradedCases(suited *evalrun.Skill, w *workspace.Workspace, version int, rows []results.Row) (evalrun.Result, error) {
	_, last := standing(rows)
	dirs, err := VersionRuns(w, version, last)
	if err != nil {
		return evalrun.Result{}, err
	}
	result, err := evalrun.ReadAll(suited, dirs...)
	if errors.Is(err, fs.ErrNotExist) {
		return evalrun.Result{}, nil
	}
	return result, err
}

// lostCases lists what the one version passed and the other does not; nothing
// when one of them was not run.
func lostCases(before, after evalrun.Result) []string {
	if len(before.Cases) == 0 || len(after.Cases) == 0 {
		return nil
	}
	return decision.Known()[decision.Latest].LostCases(caseRates(before), caseRates(after))
}

func caseRates(r evalrun.Result) decision.CaseRates {
	var runs []map[string]metric.Value
	for _, cases := range r.Runs() {
		runs = append(runs, evals.CaseNumbers(cases))
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
