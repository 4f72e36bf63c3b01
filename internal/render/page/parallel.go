package page

import (
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/metric"
)

// maxParameters and maxTrials bound the parallel coordinates: more lines cannot
// be told apart.
const (
	maxParameters = 12
	maxTrials     = 300
)

// parallel draws what was tried, a vertical axis a parameter and a line a
// trial; the best trial is drawn last.
func parallel(p *Program) template.HTML {
	names, trials := p.tuned()
	if len(names) < 1 || len(trials) < 2 {
		return ""
	}
	const height = 260.0
	gap := (chartWidth - 160) / float64(max(len(names)-1, 1))
	var d drawing
	d.begin("chart parallel", fmt.Sprintf("%d trials over %d parameters; the best is drawn strongest", len(trials), len(names)), chartWidth, height)
	scales := make([]scale, len(names))
	for i, name := range names {
		left := 80 + gap*float64(i)
		var values []float64
		for _, it := range trials {
			values = append(values, it.Params[name])
		}
		low, high := slices.Min(values), slices.Max(values)
		scales[i] = newScale(low, high, height-34, 26)
		d.line("grid", left, 20, left, height-28)
		d.text("axis", "middle", left, height-4, name)
		d.text("tick", "middle", left, height-18, short(low))
		d.text("tick", "middle", left, 14, short(high))
	}
	best, good := p.bestTrial(trials), p.goodTrials(trials)
	for _, class := range []string{"trial rejected", "trial good", "trial kept", "trial optimum"} {
		var b strings.Builder
		for _, it := range trials {
			if class != it.trialClass(it == best, good[it]) {
				continue
			}
			for i, name := range names {
				top, _ := scales[i].at(it.Params[name])
				fmt.Fprintf(&b, "%s%s %s", []string{"L", "M"}[min(1, max(0, 1-i))], coordinate(80+gap*float64(i)), coordinate(top))
			}
		}
		d.path(class, b.String())
	}
	for i, name := range names {
		if best == nil {
			break
		}
		left, anchor, aside := 80+gap*float64(i), "start", 6.0
		if i == len(names)-1 && i > 0 {
			anchor, aside = "end", -6
		}
		top, _ := scales[i].at(best.Params[name])
		d.text("value", anchor, left+aside, top-5, short(best.Params[name]))
	}
	return d.end()
}

func (it *Iteration) trialClass(best, good bool) string {
	switch {
	case best:
		return "trial optimum"
	case it.Kept():
		return "trial kept"
	case good:
		return "trial good"
	}
	return "trial rejected"
}

// tuned lists the parameters that every one of the last trials has.
func (p *Program) tuned() ([]string, []*Iteration) {
	var trials []*Iteration
	count := map[string]int{}
	for i := len(p.Iterations) - 1; i >= 0 && len(trials) < maxTrials; i-- {
		if it := p.Iterations[i]; len(it.Params) > 0 && it.Metric != nil {
			trials = append(trials, it)
			for name := range it.Params {
				count[name]++
			}
		}
	}
	maps.DeleteFunc(count, func(_ string, n int) bool { return n < len(trials) })
	names := slices.Sorted(maps.Keys(count))
	return names[:min(len(names), maxParameters)], trials
}

// goodTrials are the best quarter: where their lines run together is where the
// optimum lies.
func (p *Program) goodTrials(trials []*Iteration) map[*Iteration]bool {
	sorted := slices.SortedFunc(slices.Values(trials), func(a, b *Iteration) int {
		if p.Direction == metric.Lower {
			return a.Metric.Cmp(*b.Metric)
		}
		return b.Metric.Cmp(*a.Metric)
	})
	good := map[*Iteration]bool{}
	for _, it := range sorted[:len(sorted)/4] {
		good[it] = true
	}
	return good
}

func (p *Program) bestTrial(trials []*Iteration) *Iteration {
	var best *Iteration
	for _, it := range trials {
		if it.Kept() && (best == nil || it.Number > best.Number) {
			best = it
		}
	}
	return best
}
