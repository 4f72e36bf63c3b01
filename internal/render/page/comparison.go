package page

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/score"
)

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
	Opinions          []JudgeOpinion
	Failures          []string
	Cost              string

	checks []format.CheckResult
}

// JudgeOpinion is what the judge said of a run.
type JudgeOpinion struct{ Score, Rationale string }

// TaskCheck is one check of a task on both sides.
type TaskCheck struct {
	Kind, Name    string
	Before, After CheckRuns
}

// CheckRuns is how many runs passed a check, and what the last that failed said.
type CheckRuns struct {
	Passed, Runs int
	Detail       string
}

// Failed reports whether a run failed the check.
func (c CheckRuns) Failed() bool { return c.Passed < c.Runs }

// with is c with one run more.
func (c CheckRuns) with(result format.CheckResult) CheckRuns {
	c.Runs++
	if result.Passed {
		c.Passed++
	} else {
		c.Detail = clip(result.Detail, maxEvidence)
	}
	return c
}

// Checks are the checks of both sides, in their order.
func (r TaskRow) Checks() []TaskCheck {
	var list []TaskCheck
	for after, results := range [][]format.CheckResult{r.Before.checks, r.After.checks} {
		for _, result := range results {
			kind, name := string(result.Kind), clip(result.Name, 200)
			i := slices.IndexFunc(list, func(c TaskCheck) bool { return c.Kind == kind && c.Name == name })
			if i < 0 {
				i = len(list)
				list = append(list, TaskCheck{Kind: kind, Name: name})
			}
			if after == 0 {
				list[i].Before = list[i].Before.with(result)
			} else {
				list[i].After = list[i].After.with(result)
			}
		}
	}
	return list
}

// Told reports whether there is more to say of the task than its row does.
func (r TaskRow) Told() bool {
	return len(r.Before.checks)+len(r.After.checks)+len(r.Before.Opinions)+len(r.After.Opinions)+len(r.Before.Failures)+len(r.After.Failures) > 0
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
			if run.Judge != nil {
				side.Opinions = append(side.Opinions, JudgeOpinion{short(float(&run.Judge.Score)), clip(run.Judge.Rationale, maxEvidence)})
			}
			if run.Failure != "" {
				side.Failures = append(side.Failures, clip(run.Failure, maxEvidence))
			}
			side.checks = append(side.checks, run.Checks...)
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

// ChangeClass is better or worse; "" for neither.
func (r TaskRow) ChangeClass() string {
	switch {
	case r.Composite == nil || r.Composite.Sign() == 0:
		return ""
	case r.Composite.Sign() > 0:
		return "better"
	}
	return "worse"
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
		var mean drawing
		mean.add("M%v %vh0", x.at(s.Middle), middle)
		d.line("sample "+class, x.at(s.Low), middle, x.at(s.High), middle)
		d.path("points side "+class, &mean)
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
