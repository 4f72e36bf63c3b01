package cli

import (
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/render"
)

// pictures draws what both sides of noisy trials measured: of every kept
// iteration, and of the last one.
func pictures(results []loop.Result) string {
	var out strings.Builder
	for i, r := range results {
		if len(r.Evidence) > 0 && (r.Outcome == history.Accepted || i == len(results)-1) {
			out.WriteString("\n" + picture(r))
		}
	}
	return out.String()
}

func picture(r loop.Result) string {
	last := r.Evidence[len(r.Evidence)-1]
	title := fmt.Sprintf("iteration %d, %s: %d pairs, p = %.2g, difference %s (%g %% interval %s to %s)\n",
		r.Iteration, last.Stage, last.Pairs, last.P, last.Difference.Signed(), last.Confidence*100, last.Low, last.High)
	return title + render.ValueStrips(
		render.ValueStrip{Name: string(decision.Incumbent), Values: r.Samples.Incumbent, Note: "median " + last.Incumbent.String()},
		render.ValueStrip{Name: string(decision.Candidate), Values: r.Samples.Candidate, Note: "median " + last.Candidate.String()})
}
