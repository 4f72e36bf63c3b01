package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
)

const pictureWidth = 50

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
	all := slices.Concat(r.Samples.Incumbent, r.Samples.Candidate)
	if len(all) == 0 {
		return title
	}
	return title + render.Strips([]render.Strip{
		{Name: string(decision.Incumbent), Samples: floats(r.Samples.Incumbent), Note: "median " + last.Incumbent.String()},
		{Name: string(decision.Candidate), Samples: floats(r.Samples.Candidate), Note: "median " + last.Candidate.String()},
	}, pictureWidth, slices.MinFunc(all, metric.Value.Cmp).String(), slices.MaxFunc(all, metric.Value.Cmp).String())
}

func floats(values []metric.Value) []float64 {
	list := make([]float64, len(values))
	for i, v := range values {
		list[i] = v.Float64()
	}
	return list
}
