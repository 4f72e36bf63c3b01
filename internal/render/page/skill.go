package page

import (
	"html/template"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/suite/evals"
)

// Skill is the page of a skill's improvement.
type Skill struct {
	Generated time.Time
	Report    render.SkillReport
	// Columns are the kept versions and the other iterations that were graded.
	Columns []Column
	// Feedback is what graders said of the suite, by case.
	Feedback map[string][]string
	// Queries are the trigger queries, with a verdict for each of Report.Triggers.
	Queries []Query
}

// Column is one graded version of the skill.
type Column struct {
	Version int
	Kept    bool
	Cases   []evals.CaseScore
}

// Name is "v3" of a version that was kept, else the iteration's number.
func (c Column) Name() string {
	if c.Kept {
		return "v" + strconv.Itoa(c.Version)
	}
	return strconv.Itoa(c.Version)
}

// Query is a trigger query; Right says for each version whether the skill was
// used, or left alone, as it should be.
type Query struct {
	Text   string
	Should bool
	Right  []bool
}

// CaseRow is a case through all columns.
type CaseRow struct {
	Anchor, ID string
	Cells      []CaseCell
	Feedback   []string
}

// CaseCell is a case in one column; Known is false where it was not graded.
type CaseCell struct {
	Anchor        string
	Known         bool
	Passed, Total int
	Problem       string
	Answers       []Answer
	Claims        []evals.Claim
}

// Answer is an expectation or a check: how many of the runs passed it, and what
// was seen.
type Answer struct {
	Text string
	Tally
}

// Sign says at a glance how it went.
func (a Answer) Sign() string {
	switch a.Passed {
	case a.Runs:
		return "passed"
	case 0:
		return "failed"
	}
	return "flaky"
}

// Rate is the class that colours the cell: from rate0 to rate4.
func (c CaseCell) Rate() string {
	if !c.Known {
		return "rate-none"
	}
	return rateClass(float64(c.Passed) / float64(max(c.Total, 1)))
}

// Rows are the cases in the order of the first column that has them.
func (s *Skill) Rows() []CaseRow {
	var rows []CaseRow
	at := map[string]int{}
	for i, column := range s.Columns {
		for _, c := range column.Cases {
			row, known := at[c.ID]
			if !known {
				row = len(rows)
				at[c.ID] = row
				rows = append(rows, CaseRow{
					Anchor: "case-" + strconv.Itoa(row+1), ID: clip(c.ID, 80),
					Cells: make([]CaseCell, len(s.Columns)), Feedback: s.Feedback[c.ID],
				})
			}
			rows[row].Cells[i] = cell(rows[row].Anchor, column, c)
		}
	}
	return rows
}

// cell is a case of a version, with every expectation and what was seen. An
// expectation that the grading does not answer has failed.
func cell(row string, column Column, c evals.CaseScore) CaseCell {
	cell := CaseCell{
		Anchor: row + "-" + strconv.Itoa(column.Version), Known: true, Passed: c.Passed, Total: c.Total,
		Problem: c.Problem,
	}
	add := func(text, evidence string, passed bool) {
		at := slices.IndexFunc(cell.Answers, func(known Answer) bool { return known.Text == text })
		if at < 0 {
			at, cell.Answers = len(cell.Answers), append(cell.Answers, Answer{text, Tally{Evidence: evidence}})
		}
		cell.Answers[at].Tally = cell.Answers[at].with(passed, evidence)
	}
	for _, grading := range c.Gradings {
		for _, graded := range grading.Expectations {
			add(graded.Text, graded.Evidence, graded.Passed)
		}
		cell.Claims = append(cell.Claims, grading.ReadClaims()...)
	}
	for _, text := range c.Unanswered {
		add(text, "the grading does not answer it", false)
	}
	return cell
}

// Trajectory draws the scores of the iterations.
func (s *Skill) Trajectory() template.HTML {
	p := Program{
		Name: plain.Text(s.Report.Skill), Metric: "pass rate", Direction: metric.Higher,
		Initial: s.Report.Start, Best: s.Report.Best,
	}
	for _, step := range s.Report.Trajectory {
		if step.Iteration == 0 {
			continue
		}
		it := &Iteration{Story: &render.Story{Decided: &history.Decided{
			Head: history.Head{Iteration: step.Iteration}, Metric: step.Score, Best: step.Best,
			Outcome: history.Rejected,
		}}}
		if step.Action == results.Kept {
			it.Outcome = history.Accepted
		}
		p.Iterations = append(p.Iterations, it)
	}
	if len(p.Iterations) == 0 {
		return ""
	}
	return (&p).Trajectory()
}

// Diff is the change from v0 to the best version.
func (s *Skill) Diff() []DiffLine { return parseDiff([]byte(s.Report.Diff)) }

// Write writes the page.
func (s *Skill) Write(w io.Writer) error { return execute(w, "skill.html", s) }
