package skill

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill/workspace"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
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
	start := startOf(rows)
	before, err := gradedCases(suited, w, start, rows)
	if err != nil {
		return r, nil, err
	}
	after, err := gradedCases(suited, w, version, rows)
	if err != nil {
		return r, nil, err
	}
	r = render.NewSkillReport(rows, lostCases(before, after), w.Whole)
	r.Notes = append(r.Notes, otherScore(before, rows, start)...)
	if version != start {
		r.Notes = append(r.Notes, otherScore(after, rows, version)...)
	}
	r.Skill, r.Workspace, r.Failures, r.Cases = skillTitle(suited, w), w.Dir, failuresOf(after.Cases),
		casesOf(before, after)
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
		r.Diff, r.DiffBase64 = string(bytes.ToValidUTF8(patch, []byte("\ufffd"))),
			base64.StdEncoding.EncodeToString(patch)
	}
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

// feedbackOf is what graders say of the suite.
func feedbackOf(result evalrun.Result) []render.SkillFeedback {
	var list []render.SkillFeedback
	for _, c := range result.Cases {
		for _, text := range evalrun.Suggestions(c.Feedback()) {
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
func gradedCases(suited *evalrun.Skill, w *workspace.Workspace, version int,
	rows []results.Row,
) (evalrun.Result, error) {
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
	return decision.LostCases(caseRates(before), caseRates(after))
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

// Inside reports whether a new file or directory would be in a skill.
func Inside(place, dir string) (bool, error) {
	above, err := filepath.EvalSymlinks(filepath.Dir(place))
	if err != nil {
		return false, misuse.Errorf("%s has no directory to be in: %w", place, err)
	}
	skill, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false, misuse.Errorf("open the skill: %w", err)
	}
	below, err := filepath.Rel(skill, above)
	return err == nil && below != ".." && !strings.HasPrefix(below, ".."+string(filepath.Separator)), nil
}
