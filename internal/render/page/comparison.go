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
	Objective, Cost   string
	Runs              []format.Run
}

// TaskCheck is one check of a task on both sides.
type TaskCheck struct {
	Kind, Name    string
	Before, After Tally
}

// Tally is how many runs passed something, and what was seen when it failed last.
type Tally struct {
	Passed, Runs int
	Evidence     string
}

// Failed reports whether a run failed.
func (t Tally) Failed() bool { return t.Passed < t.Runs }

// with is the tally with one run more.
func (t Tally) with(passed bool, evidence string) Tally {
	t.Runs++
	if passed {
		t.Passed++
	} else {
		t.Evidence = evidence
	}
	return t
}

// Checks are the checks of both sides, in their order.
func (r TaskRow) Checks() []TaskCheck {
	var list []TaskCheck
	for after, side := range []TaskSide{r.Before, r.After} {
		for _, run := range side.Runs {
			for _, result := range run.Checks {
				kind, name := string(result.Kind), clip(result.Name, 200)
				i := slices.IndexFunc(list, func(c TaskCheck) bool { return c.Kind == kind && c.Name == name })
				if i < 0 {
					i = len(list)
					list = append(list, TaskCheck{Kind: kind, Name: name})
				}
				side := []*Tally{&list[i].Before, &list[i].After}[after]
				*side = side.with(result.Passed, result.Detail)
			}
		}
	}
	return list
}

// Told reports whether there is more to say of the task than its row does.
func (r TaskRow) Told() bool { return len(r.Checks()) > 0 || r.Before.Told() || r.After.Told() }

// Told reports whether a run failed or was judged.
func (s TaskSide) Told() bool {
	return slices.ContainsFunc(s.Runs, func(run format.Run) bool { return run.Failure != "" || run.Judge != nil })
}

// Rows are the tasks of both sides.
func (c *Comparison) Rows() []TaskRow {
	var rows []TaskRow
	for _, d := range c.Deltas {
		rows = append(rows, TaskRow{
			d, taskSide(c.Before, d.TaskID, d.BaselineComposite, d.BaselineObjective),
			taskSide(c.After, d.TaskID, d.CandidateComposite, d.CandidateObjective),
		})
	}
	return rows
}

func taskSide(o format.SuiteOutcome, id string, composite *metric.Value, objective *format.Objective) TaskSide {
	at := slices.IndexFunc(o.Scores, func(s format.Score) bool { return s.TaskID == id })
	if at < 0 || objective == nil {
		return TaskSide{}
	}
	s := o.Scores[at]
	side := TaskSide{
		Known: composite != nil, Runs: s.Runs, Objective: objective.Passed.String() + " of " + objective.Total.String(),
	}
	var bases []float64
	cost := Cost{}
	for _, run := range s.Runs {
		if base, ok := score.Base(run, s.JudgeWeight); ok {
			bases = append(bases, base.Float64())
		}
		if usd, known := metric.Known(run.Cost.USD); known {
			cost.USD += usd.Float64()
		} else {
			cost.UnknownUSD++
		}
	}
	side.Cost = cost.String()
	if side.Known {
		side.Middle = composite.Float64()
		side.Low, side.High = spread(side.Middle, bases)
	}
	return side
}

// spread is how far the runs lie apart, around the mean composite. Costs, which
// are compared between the sides and not between runs, take no part in it.
func spread(middle float64, bases []float64) (low, high float64) {
	if len(bases) < 2 {
		return middle, middle
	}
	mean := 0.0
	for _, base := range bases {
		mean += base / float64(len(bases))
	}
	return min(max(middle+slices.Min(bases)-mean, 0), 1), min(max(middle+slices.Max(bases)-mean, 0), 1)
}

// Chance is the p of a gain by chance; "" without repeats.
func (c *Comparison) Chance() string {
	if c.PValue == nil {
		return ""
	}
	return strconv.FormatFloat(*c.PValue, 'g', 3, 64)
}

// Name is the task's id.
func (r TaskRow) Name() string { return clip(r.TaskID, 80) }

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
	x := scale{0, 1, 6, width - 6}
	var d drawing
	d.begin("dots", fmt.Sprintf("baseline %.3g, candidate %.3g", r.Before.Middle, r.After.Middle),
		width, height)
	for i, s := range []TaskSide{r.Before, r.After} {
		class, middle := []string{"incumbent", "candidate"}[i], 11.0+12*float64(i)
		d.line("grid", x.from, middle, x.to, middle)
		if !s.Known {
			continue
		}
		d.line("sample "+class, x.at(s.Low), middle, x.at(s.High), middle)
		d.path("points side "+class, at("M%v %vh0", x.at(s.Middle), middle))
	}
	return d.end()
}

// Write writes the page.
func (c *Comparison) Write(w io.Writer) error { return execute(w, "comparison.html", c) }
