package evals

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
)

// How many bytes of a text of unknown origin are shown on a line.
const (
	lineWidth    = 100
	problemWidth = 300
)

// Line says what a case came to.
func (c CaseScore) Line(done, total int) string {
	text := fmt.Sprintf("%d of %d cases: %s passed %d of %d", done, total, c.ID, c.Passed, c.Total)
	if c.Problem != "" {
		text += ": " + plain.Short(c.Problem, problemWidth)
	}
	return text
}

// Trouble says why a case counts 0, in all runs or in some, and what its gradings
// leave open.
func (c CaseScore) Trouble() string {
	if c.Problem != "" {
		return c.Problem
	}
	if why := c.crashedRuns(); why != "" {
		return why
	}
	var open []string
	for _, text := range c.Unanswered {
		open = append(open, strconv.Quote(plain.Short(text, lineWidth)))
	}
	if len(open) > 0 {
		return "the grading does not answer " + render.Few(open)
	}
	return ""
}

// crashedRuns says in how many runs a case counts 0.
func (c CaseScore) crashedRuns() string {
	problem, count := "", 0
	for _, run := range c.Runs {
		if run.Problem != "" {
			problem, count = cmp.Or(problem, run.Problem), count+1
		}
	}
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("in %d of %d runs: %s", count, len(c.Runs), problem)
}
