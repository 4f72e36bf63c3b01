package page

import (
	"cmp"
	"strconv"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
)

// Iteration is one decided iteration.
type Iteration struct {
	Program string // the anchor of its program
	Number  int
	Time    time.Time
	Outcome history.Outcome
	Summary string
	Reasons []string
	Warning string
	// Why is the reason that decided.
	Why decision.Reason
	// Metric is the candidate's number, nil when nothing was measured;
	// Previous what it was compared with, Best the incumbent's afterwards.
	Metric, Previous, Best *metric.Value
	Delta                  string
	// Before and After are the samples of both sides in the last stage of the
	// trial, Test what the comparison said, Interval the shift that it allows.
	Before, After []float64
	Test          string
	Interval      *[2]float64
	Guardrails    []string
	Agent, Model  string
	Cost          Cost
	Took          time.Duration
	Commit        string
	// CommitURL and RunURL are addresses on GitHub; "" when unknown.
	CommitURL, RunURL string
	Changed           []string
	Diff              []DiffLine
	Notes             []string
	// CI is what CI said of the commit, in words; "" when it was not asked.
	CI string
	// Point is where the trajectory draws it: x and y in the chart.
	Point []float64

	parent string // the commit that Commit changes

	// cases are the pass rates of a suite's cases.
	cases decision.CaseRates
}

// Kept reports whether the change is on the program's branch.
func (it *Iteration) Kept() bool { return it.Outcome == history.Accepted }

// Label is the outcome for people.
func (it *Iteration) Label() string { return render.OutcomeOf(it.Outcome).Word }

// Class is the outcome as a class of the style sheet.
func (it *Iteration) Class() string { return render.OutcomeOf(it.Outcome).Class }

// What is shown of an iteration without a summary: why it ended.
func (it *Iteration) What() string {
	switch {
	case it.Summary != "":
		return it.Summary
	case len(it.Reasons) > 0:
		return it.Reasons[0]
	}
	return "no summary"
}

// Author is the agent, with its model when known.
func (it *Iteration) Author() string {
	if it.Model != "" {
		return it.Agent + " (" + it.Model + ")"
	}
	return cmp.Or(it.Agent, "unknown")
}

// Measured is the candidate's number with its difference, for people.
func (it *Iteration) Measured() string {
	text := render.Figure(it.Metric, it.Previous, it.Best)
	if it.Delta != "" {
		return text + " (" + render.Rounded(it.Delta)[0] + ")"
	}
	return text
}

// Duration is how long it took, in words.
func (it *Iteration) Duration() string {
	if it.Took <= 0 {
		return "—"
	}
	return render.Minutes(it.Took.Minutes())
}

// ID is the iteration's anchor.
func (it *Iteration) ID() string { return it.Program + "-i" + strconv.Itoa(it.Number) }

// csv is the iteration as a row for a spreadsheet.
func (it *Iteration) csv() []string {
	cost := ""
	if it.Cost.UnknownUSD == 0 || it.Cost.USD > 0 {
		cost = strconv.FormatFloat(it.Cost.USD, 'f', -1, 64)
	}
	return []string{
		strconv.Itoa(it.Number), it.Time.UTC().Format(time.RFC3339), string(it.Outcome), metric.Text(it.Metric, ""), metric.Text(it.Previous, ""), it.Delta, it.Agent, it.Model,
		cost, strconv.FormatFloat(it.Took.Seconds(), 'f', 1, 64), it.Commit, it.Summary,
	}
}
