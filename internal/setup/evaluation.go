package setup

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

// Evaluation is an inspection of a program's evaluation with what follows from it.
type Evaluation struct {
	loop.Inspection

	// Visible is the smallest gain that the settings find four times in five.
	Visible float64 `json:"smallest_visible_gain"`
	Runs    int     `json:"runs_per_candidate"`
	// Minutes is how long a candidate takes to decide, when it is kept and,
	// mostly, when it is not.
	Minutes  float64  `json:"minutes_when_kept"`
	Rejected float64  `json:"minutes_when_rejected"`
	Findings []string `json:"findings"`
	// Isolation is how agent and evaluation are kept apart from the machine:
	// namespaces, bwrap, or off.
	Isolation string `json:"isolation"`
}

// Conclude works out what an evaluation that behaves like this can see, and
// what it costs.
func Conclude(found loop.Inspection, timeout time.Duration) Evaluation {
	result := Evaluation{Inspection: found, Findings: []string{}, Isolation: "off"}
	if found.Problem != "" {
		result.Findings = append(result.Findings, found.Problem)
		return result
	}
	rule := found.Rule
	result.Visible = decision.Visible(rule, found.Samples)
	minutes := func(runs int, rooms float64) float64 {
		return (float64(runs)*found.Seconds + rooms*found.Prepare) / 60
	}
	runs, environments := rule.KeptRuns()
	result.Runs, result.Minutes, result.Rejected = runs, minutes(runs, float64(environments)), minutes(1, 1)
	if rule.Regime == decision.Noisy {
		result.Rejected = minutes(8, 2)
	}
	find := func(format string, args ...any) {
		result.Findings = append(result.Findings, fmt.Sprintf(format, args...))
	}
	held, more := rule.HeldRuns()
	if most := result.Minutes + minutes(held, float64(more)); most > timeout.Minutes() {
		find("a candidate that is kept takes up to %.3g minutes, more than timeout-minutes %.0f: set "+
			"`timeout-minutes: %.0f`, or make the evaluation faster or steadier",
			most, timeout.Minutes(), math.Ceil(most*1.25))
	}
	if found.Noisy && rule.Regime == decision.Single {
		find("the evaluation is noisy and `evaluation-runs: 1` compares single runs: what is kept may be chance; " +
			"remove the line")
	}
	for _, broken := range found.Broken {
		switch {
		case broken.Gain:
			find("%s %s counts as a gain (%s, and %s as it is): let the evaluation test what it measures, "+
				"and fail when that does not work", broken.File, broken.How, broken.Metric, found.Median)
		case broken.Unnoticed:
			find("%s %s is not noticed (%s, as before): does the evaluation use the file, and does it end "+
				"where a command fails?", broken.File, broken.How, broken.Metric)
		}
	}
	if share := result.Visible / math.Abs(found.Median.Float64()); rule.Regime == decision.Noisy && share > 0.1 {
		find("only gains beyond %.0f %% of the metric can be told from chance: measure longer, on a "+
			"quieter machine, or raise `evaluation-runs`", share*100)
	}
	return result
}

// WithinReach warns of directories that the script names and in which the target lets
// files change: only files that it names are protected.
func WithinReach(p *program.Program, tracked []string) []string {
	names := p.ScriptNames()
	var dirs, findings []string
	for _, file := range tracked {
		for dir := path.Dir(file); dir != "." && p.Allows(file); dir = path.Dir(dir) {
			if names(dir) && !slices.Contains(dirs, dir) && !entered(p.Script, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	for _, dir := range dirs {
		findings = append(findings, fmt.Sprintf(
			"the evaluation names the directory %s, in which the target lets files change: "+
				"make sure that what prints the number is not among them, and name it under `protect`", dir))
	}
	return findings
}

// entered reports whether the script only changes into a directory.
func entered(script, dir string) bool {
	return slices.ContainsFunc(changesInto().FindAllStringSubmatch(script, -1), func(found []string) bool {
		return strings.HasSuffix(dir, path.Clean(strings.Trim(found[1], `"'`)))
	})
}

var changesInto = lazyregexp.New(`(?:\bcd|\bpushd|-C)\s+([^\s;&|]+)`)

// brokenText is what became of a target file that was broken.
func brokenText(broken loop.Breakage) string {
	switch {
	case broken.Problem != "":
		return "noticed: " + plain.Short(broken.Problem, 160)
	case broken.Gain:
		return broken.Metric.String() + ", a gain!"
	case broken.Unnoticed:
		return broken.Metric.String() + ", not noticed"
	default:
		return broken.Metric.String() + ", worse"
	}
}

// String is the inspection for people; "" when the evaluation cannot be used.
func (e *Evaluation) String() string {
	if e.Problem != "" {
		return ""
	}
	var out strings.Builder
	kind := "deterministic so far: two runs in two trees gave the same"
	switch {
	case e.Rule.Regime == decision.Single:
		kind = "measured once (evaluation-runs: 1)"
	case e.Noisy && statistics.Same(e.Samples):
		kind = "noisy: a guardrail does not repeat itself"
	case e.Noisy:
		kind = "noisy"
	}
	visible := "any"
	if e.Visible > 0 {
		visible = strconv.FormatFloat(e.Visible, 'g', 3, 64)
	}
	table := render.Table{Header: []string{e.Program, ""}}
	row := func(name, format string, args ...any) {
		table.Rows = append(table.Rows, []string{name, fmt.Sprintf(format, args...)})
	}
	row("the evaluation is", "%s", kind)
	row("metric", "%s (median of %d runs)", render.Figure(&e.Median), len(e.Samples))
	if e.Noisy {
		row("spread between the quartiles", "%s", render.Figure(new(statistics.Spread(e.Samples))))
	}
	for _, name := range slices.Sorted(maps.Keys(e.Guardrails)) {
		samples := e.Guardrails[name]
		row("guardrail "+plain.Short(name, 60), "%s, spread %s", render.Figure(new(statistics.Median(samples))),
			render.Figure(new(statistics.Spread(samples))))
	}
	row("smallest visible gain", "%s", visible)
	row("one run", "%.3g s, and %.3g s for its tree and setup", e.Seconds, e.Prepare)
	row("one candidate", "%s when kept (%d runs), mostly %s when not", render.Minutes(e.Minutes), e.Runs,
		render.Minutes(e.Rejected))
	for _, broken := range e.Broken {
		row(broken.File+" "+broken.How, "%s", brokenText(broken))
	}
	row("isolation", "%s", e.Isolation)
	out.WriteString(table.String())
	for _, finding := range e.Findings {
		out.WriteString("! " + finding + "\n")
	}
	return out.String()
}
