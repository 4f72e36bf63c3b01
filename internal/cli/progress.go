package cli

import (
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
)

// shownOutcomes is how many iterations the block of a run names.
const shownOutcomes = 3

// progress shows the steps of a run: on a terminal a block that is drawn again,
// with what the run is at, the best so far and how its last iterations ended;
// elsewhere a plain line a step.
type progress struct {
	display

	text     string
	measured string
	ended    []loop.Result
	best     []float64
	cost     metric.Value
}

func newProgress(env Env) *progress {
	p := &progress{display: display{out: env.Stderr, now: env.Now}}
	p.liveLine = newLiveLine(env, p.block)
	return p
}

// Step begins a step.
func (p *progress) Step(step loop.Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if step.Name == "measured" {
		p.measured = step.Detail
	}
	text := fmt.Sprintf("%s #%d %s", step.Program, step.Iteration, step.Name)
	if step.Detail != "" {
		text += ": " + step.Detail
	}
	if p.liveLine == nil {
		if !step.Minor {
			fmt.Fprintln(p.out, text)
		}
		return
	}
	p.text, p.begun = plain.Line(text), p.now()
}

// Ended adds an iteration to the block.
func (p *progress) Ended(r loop.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = append(p.ended, r)
	if r.Initial != nil && len(p.best) == 0 {
		p.best = append(p.best, r.Initial.Float64())
	}
	if r.BestMetric != nil {
		p.best, p.measured = append(p.best, r.BestMetric.Float64()), ""
	}
	if r.Usage != nil && r.Usage.CostUSD != nil {
		p.cost = p.cost.Add(*r.Usage.CostUSD)
	}
}

func (p *progress) block(sign string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.text == "" {
		return ""
	}
	lines := []string{fmt.Sprintf("%s %s (%ds)", sign, p.text, p.seconds())}
	if p.measured != "" {
		lines[0] += "  best so far " + p.measured
	}
	if len(p.ended) > 0 {
		lines = append(lines, p.totals())
	}
	for _, r := range p.ended[max(len(p.ended)-shownOutcomes, 0):] {
		lines = append(lines, "  "+ending(r))
	}
	return strings.Join(lines, "\n")
}

// totals is what the iterations of this run add up to.
func (p *progress) totals() string {
	kept := 0
	for _, r := range p.ended {
		if r.Outcome == history.Accepted {
			kept++
		}
	}
	parts := []string{fmt.Sprintf("%d of %d kept", kept, len(p.ended))}
	if len(p.best) > 0 {
		parts = append([]string{"best " + render.Figure(p.ended[len(p.ended)-1].BestMetric) + " " + render.Spark(p.best)}, parts...)
	}
	if p.cost.Sign() > 0 {
		parts = append(parts, fmt.Sprintf("%.2f USD", p.cost.Float64()))
	}
	return "  " + strings.Join(parts, ", ")
}

// ending is how an iteration ended, in a line.
func ending(r loop.Result) string {
	words := r.Summary
	if r.Outcome != history.Accepted && len(r.Reasons) > 0 {
		words = r.Reasons[0]
	}
	text := fmt.Sprintf("#%d %s", r.Iteration, r.Outcome)
	if r.Metric != nil {
		text += " " + render.Figure(r.Metric)
	}
	return text + ": " + plain.Short(words, liveWidth)
}
