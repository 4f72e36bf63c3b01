package page

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill/evals"
	"github.com/org/autoloop/internal/tasks/format"
	"github.com/org/autoloop/internal/tasks/score"
)

// maxEvidence bounds a text of a grader or a judge, in runes.
const maxEvidence = 600

// Skill is the page of a skill's improvement.
type Skill struct {
	Generated time.Time
	Report    render.SkillReport
	// Columns are the kept versions and the other iterations that were graded.
	Columns []Column
	// Feedback is what graders said of the suite, by case.
	Feedback map[string]string
}

// Column is one graded version of the skill.
type Column struct {
	// Name is "v0", or the iteration's number.
	Name  string
	Kept  bool
	Cases []evals.CaseScore
}

// CaseRow is a case through all columns.
type CaseRow struct {
	ID       string
	Cells    []CaseCell
	Feedback string
}

// CaseCell is a case in one column; Known is false where it was not graded.
type CaseCell struct {
	Known         bool
	Passed, Total int
	Problem       string
	Failed        []evals.Graded
}

// Rate is the class that colours the cell: from rate0 to rate4.
func (c CaseCell) Rate() string {
	switch {
	case !c.Known:
		return "rate-none"
	case c.Total == 0 || c.Passed == 0:
		return "rate0"
	case c.Passed == c.Total:
		return "rate4"
	}
	return "rate" + strconv.Itoa(1+min(2, 3*c.Passed/c.Total))
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
				rows = append(rows, CaseRow{ID: clip(c.ID, 80), Cells: make([]CaseCell, len(s.Columns)), Feedback: clip(s.Feedback[c.ID], maxEvidence)})
			}
			cell := CaseCell{Known: true, Passed: c.Passed, Total: c.Total, Problem: clip(c.Problem, maxEvidence)}
			for _, failed := range c.Failed {
				cell.Failed = append(cell.Failed, evals.Graded{Text: clip(failed.Text, maxEvidence), Evidence: clip(failed.Evidence, maxEvidence)})
			}
			rows[row].Cells[i] = cell
		}
	}
	return rows
}

// Trajectory draws the scores of the iterations.
func (s *Skill) Trajectory() template.HTML {
	p := Program{Name: plain.Text(s.Report.Skill), Metric: "pass rate", Direction: metric.Higher, Initial: s.Report.Start, Best: s.Report.Best}
	for _, step := range s.Report.Trajectory {
		if step.Iteration == 0 {
			continue
		}
		it := &Iteration{Number: step.Iteration, Metric: step.Score, Best: step.Best, Outcome: "rejected"}
		if step.Action == "kept" {
			it.Outcome = "accepted"
		}
		p.Iterations = append(p.Iterations, it)
	}
	if len(p.Iterations) == 0 {
		return ""
	}
	return trajectory(&p)
}

// Diff is the change from v0 to the best version.
func (s *Skill) Diff() []DiffLine { return parseDiff([]byte(s.Report.Diff), lexers{}) }

// Write writes the page.
func (s *Skill) Write(w io.Writer) error { return writeReport(w, "skill.html", s) }

// Comparison is the page of a comparison of two configurations.
type Comparison struct {
	Generated time.Time
	render.Comparison
}

// TaskRow is one task on both sides.
type TaskRow struct {
	score.Delta
	Before, After TaskSide
}

// TaskSide is a task in one configuration.
type TaskSide struct {
	Known bool
	// Low, Middle and High are the least, mean and greatest composite of its
	// runs, as far as they are known.
	Low, Middle, High float64
	Objective         string
	Checks            []format.CheckResult
	Rationales        []string
	Failures          []string
	Cost              string
}

// Rows are the tasks of both sides.
func (c *Comparison) Rows() []TaskRow {
	var rows []TaskRow
	for _, d := range c.Deltas {
		rows = append(rows, TaskRow{d, taskSide(c.Before, d.TaskID, d.BaselineComposite), taskSide(c.After, d.TaskID, d.CandidateComposite)})
	}
	return rows
}

func taskSide(outcome format.SuiteOutcome, id string, composite *metric.Value) TaskSide {
	for _, s := range outcome.Scores {
		if s.TaskID != id {
			continue
		}
		side := TaskSide{Known: composite != nil}
		if composite != nil {
			side.Middle = composite.Float64()
			side.Low, side.High = side.Middle, side.Middle
		}
		passed, total, usd, usdKnown := 0.0, 0.0, 0.0, true
		var bases []float64
		for _, run := range s.Runs {
			passed, total = passed+float(&run.Objective.Passed), total+float(&run.Objective.Total)
			if base, ok := score.Base(run, s.JudgeWeight); ok {
				bases = append(bases, base.Float64())
			}
			if run.Cost.USD != nil {
				usd += float(run.Cost.USD)
			} else {
				usdKnown = false
			}
			if run.Judge != nil && run.Judge.Rationale != "" {
				side.Rationales = append(side.Rationales, clip(run.Judge.Rationale, maxEvidence))
			}
			if run.Failure != "" {
				side.Failures = append(side.Failures, clip(run.Failure, maxEvidence))
			}
			for _, check := range run.Checks {
				if !check.Passed {
					check.Name, check.Detail = clip(check.Name, 200), clip(check.Detail, maxEvidence)
					side.Checks = append(side.Checks, check)
				}
			}
		}
		side.spread(bases)
		side.Objective = short(passed) + " of " + short(total)
		if side.Cost = "unknown"; usdKnown {
			side.Cost = "$" + strconv.FormatFloat(usd, 'f', 4, 64)
		}
		return side
	}
	return TaskSide{}
}

// spread is how far the runs lie apart, around the mean composite. Costs, which
// are compared between the sides and not between runs, take no part in it.
func (s *TaskSide) spread(bases []float64) {
	if !s.Known || len(bases) < 2 {
		return
	}
	mean := 0.0
	for _, base := range bases {
		mean += base / float64(len(bases))
	}
	s.Low = min(max(s.Middle+slices.Min(bases)-mean, 0), 1)
	s.High = min(max(s.Middle+slices.Max(bases)-mean, 0), 1)
}

// Chance is the p of a gain by chance; "" without repeats.
func (c *Comparison) Chance() string {
	if c.PValue == nil {
		return ""
	}
	return strconv.FormatFloat(*c.PValue, 'g', 3, 64)
}

// float is a number for drawing; what is not finite is 0.
func float(n *metric.Number) float64 {
	v, finite := n.Value()
	if !finite {
		return 0
	}
	return v.Float64()
}

// Name is the task's id.
func (r TaskRow) Name() string { return clip(r.TaskID, 80) }

// Change is the difference of the composites.
func (r TaskRow) Change() string {
	if r.Composite == nil {
		return "—"
	}
	return signed(r.Composite.Float64())
}

// Dots draws both sides between 0 and 1, with the range of their runs.
func (r TaskRow) Dots() template.HTML {
	const width, height = 240.0, 34.0
	x := scale{low: 0, high: 1, from: 6, to: width - 6}
	var d drawing
	d.begin("dots", fmt.Sprintf("baseline %s, candidate %s", short(r.Before.Middle), short(r.After.Middle)), width, height)
	for i, s := range []TaskSide{r.Before, r.After} {
		class, middle := []string{"incumbent", "candidate"}[i], 11.0+12*float64(i)
		d.line("grid", x.from, middle, x.to, middle)
		if !s.Known {
			continue
		}
		low, _ := x.at(s.Low)
		high, _ := x.at(s.High)
		at, _ := x.at(s.Middle)
		d.line("sample "+class, low, middle, high, middle)
		d.path("points side "+class, "M"+coordinate(at)+" "+coordinate(middle)+"h0")
	}
	return d.end()
}

// Net is the sum of the differences.
func (c *Comparison) Net() string {
	if c.NetGain == nil {
		return "—"
	}
	return signed(c.NetGain.Float64())
}

// Write writes the page.
func (c *Comparison) Write(w io.Writer) error { return writeReport(w, "comparison.html", c) }

// writeReport writes a page that needs no script.
func writeReport(w io.Writer, name string, data any) error {
	style, err := assets.ReadFile("assets/style.css")
	if err != nil {
		return fmt.Errorf("read the page's style: %w", err)
	}
	functions := functions(view{Site: &Site{}})
	functions["style"] = func() template.HTML {
		return template.HTML("<style>" + string(style) + "</style>") //nolint:gosec // our own file
	}
	functions["policy"] = func() string {
		return "default-src 'none'; style-src " + source(style) + "; img-src data:; base-uri 'none'; form-action 'none'"
	}
	functions["plain"] = func(v any) string { return clip(fmt.Sprint(v), maxEvidence) }
	functions["value"] = number
	pages, err := template.New(name).Funcs(functions).ParseFS(assets, "assets/report/*.html")
	if err != nil {
		return fmt.Errorf("read the page's template: %w", err)
	}
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}
