package page

import (
	"cmp"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
)

// Iteration is one decided iteration.
type Iteration struct {
	history.Attempt
	Program string // the anchor of its program
	// Before and After are the samples of both sides, Test what the comparison said, Interval the shift that it allows.
	Before, After []metric.Value
	Test          string
	Interval      *[2]float64
	Guardrails    []string
	// CommitURL and RunURL are addresses on GitHub; "" when unknown.
	CommitURL, RunURL string
	Diff              []DiffLine
}

// Kept reports whether the change is on the program's branch.
func (it *Iteration) Kept() bool { return it.Outcome == history.Accepted }

// Label is the outcome for people.
func (it *Iteration) Label() render.OutcomeText { return render.OutcomeOf(it.Outcome) }

// What is shown of an iteration without a summary: why it ended.
func (it *Iteration) What() string {
	if it.Summary == "" && len(it.Reasons) > 0 {
		return it.Reasons[0].String()
	}
	return cmp.Or(it.Summary, "no summary")
}

// Author is the agent, with its model when known.
func (it *Iteration) Author() string {
	author := clip(cmp.Or(it.Agent, "unknown"), 60)
	if it.Model != "" {
		author += " (" + clip(it.Model, 60) + ")"
	}
	return author
}

// Measured is the candidate's number with its difference, for people.
func (it *Iteration) Measured() string {
	text := render.Figure(it.Metric, it.PreviousBest, it.Best)
	if it.Delta != "" {
		return text + " (" + render.Rounded(clip(it.Delta, 60))[0] + ")"
	}
	return text
}

// maxDiffLines bounds the change that is shown of one iteration.
const maxDiffLines = 400

// DiffLine is one line of a change; its class is add, del, hunk, file or same.
type DiffLine struct{ Class, Text string }

// parseDiff reads a change as git prints it.
func parseDiff(patch []byte) []DiffLine {
	var lines []DiffLine
	for text := range strings.SplitSeq(strings.TrimRight(string(patch), "\n"), "\n") {
		class := "hunk"
		switch {
		case len(lines) == maxDiffLines:
			return append(lines, DiffLine{class, "… the commit has the rest"})
		case strings.HasPrefix(text, "diff --git "):
			class = "file"
		case text == "",
			strings.HasPrefix(text, "index "),
			strings.HasPrefix(text, "--- "),
			strings.HasPrefix(text, "+++ "):
			continue
		case text[0] == '+':
			class = "add"
		case text[0] == '-':
			class = "del"
		case text[0] == ' ':
			class = "same"
		}
		lines = append(lines, DiffLine{class, clip(text, 500)})
	}
	return lines
}
