package prompt

import (
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/metric"
)

// maxPatch bounds the change of one inspiration, in bytes.
const maxPatch = 3_000

// Relative is an earlier program of the population.
type Relative struct {
	Iteration, Proposal int
	Metric              *metric.Value
	Summary             string
	// Patch is its change, against the incumbent that it was measured with.
	Patch string
}

func (r Relative) title() string {
	line := fmt.Sprintf("iteration %d", r.Iteration)
	if r.Proposal > 1 {
		line += fmt.Sprintf(", proposal %d", r.Proposal)
	}
	if r.Metric != nil {
		line += fmt.Sprintf(", metric %s", r.Metric)
	}
	if r.Summary != "" {
		line += ": " + r.Summary
	}
	return oneLine(line)
}

// writeLineage says what the files are, and shows other programs.
func writeLineage(b *strings.Builder, in Input) {
	if in.Parent != nil {
		b.WriteString("## Where you begin\n\nThe files in this directory are not the best ones so far but those of " +
			"an earlier attempt, to be developed further:\n\n")
		fenced(b, "", "- "+in.Parent.title(), 2*maxLine)
		if in.Best != nil {
			fmt.Fprintf(b, "What you make of them is kept when it is better than %s.\n\n", in.Best)
		}
	}
	if len(in.Inspirations) == 0 {
		return
	}
	b.WriteString("## Other attempts, as inspiration\n\nTake what is good in them, in a way of your own.\n\n")
	for _, one := range in.Inspirations {
		fenced(b, "", "- "+one.title()+"\n"+one.Patch, in.room(maxPatch))
	}
}

// writeFocus names the one failing test to work on.
func writeFocus(b *strings.Builder, test string) {
	if test != "" {
		fmt.Fprintf(b, "## The test to make pass\n\nMake this one failing test pass, and leave the others; those "+
			"that pass must go on passing:\n\n")
		fenced(b, "", oneLine(test), maxLine)
	}
}
