package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

func newDoctorCommand(env Env, o *iterateOptions) *cobra.Command {
	var evaluation string
	var asJSON, quick bool
	cmd := &cobra.Command{
		Use:   "doctor [--quick | --evaluation PROGRAM]",
		Short: "Say whether repository, token and machine are fit, or a program's evaluation",
		Long: "Look at the checkout, the agents on this machine and, with a repository on GitHub and a token, at all\n" +
			"that can keep iterations from being published; each finding comes with its fix. The exit code is 1\n" +
			"when something has to be mended. Of every program, unless --quick, it says who proposes for it, and runs\n" +
			"the evaluation twice: those of files and those of issues that people with rights here opened.\n\n" +
			"With --evaluation, run a program's evaluation on the incumbent and say whether it repeats itself, how far its numbers\n" +
			"scatter, the smallest gain that the program's settings can tell from chance, and how long one\n" +
			"candidate takes to decide. Nothing is written.\n\n" +
			"The exit code is 1 when the evaluation cannot be used.",
		Example: "  iterate doctor\n  iterate doctor --evaluation speed\n  iterate doctor --evaluation speed --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := *o
			if evaluation == "" {
				return inspectSetup(cmd.Context(), env, o, quick, asJSON)
			}
			o.Program = evaluation
			return inspectEvaluation(cmd.Context(), env, o, asJSON)
		},
	}
	cmd.Flags().StringVar(&evaluation, "evaluation", "", "the program whose evaluation to look at")
	cmd.Flags().BoolVar(&quick, "quick", false, "run no evaluation")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	githubFlags(cmd.Flags(), &o.GitHub)
	return cmd
}

// inspected is an inspection with what follows from it.
type inspected struct {
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

func inspectEvaluation(ctx context.Context, env Env, o iterateOptions, asJSON bool) error {
	deps, err := app.Open(ctx, env, o.Options)
	if err != nil {
		return err
	}
	remove, err := deps.MakeRunDir()
	if err != nil {
		return err
	}
	defer remove()
	p, _, err := deps.Program(ctx)
	if err != nil {
		return err
	}
	if p.Evaluation != program.Metric {
		return Usagef("%s: --evaluation looks at programs with `evaluation: metric`; this one has `%s`", p.File, p.Evaluation)
	}
	runner, err := deps.Runner(ctx, p)
	if err != nil {
		return err
	}
	service := deps.Measurer(p, runner)
	shown := newProgress(env)
	service.Progress = shown.Step
	found, err := service.Inspect(ctx)
	shown.Close()
	if err != nil {
		return err
	}
	files, err := deps.TrackedFiles(ctx)
	if err != nil {
		return err
	}
	result := conclude(found, p.Timeout)
	wished, _ := app.IsolationWish(env, p) // deps.Runner refuses a wrong one
	result.inIsolation(ctx, runner, wished, deps.RunDir, env)
	result.Findings = append(result.Findings, withinReach(p, files)...)
	if asJSON {
		encoder := json.NewEncoder(env.Stdout)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(result); err != nil {
			return err
		}
	} else {
		fmt.Fprint(env.Stdout, describeInspection(result))
	}
	if found.Problem != "" {
		return fmt.Errorf("the evaluation of %s cannot be used: %s", p.Name, found.Problem)
	}
	return nil
}

// conclude works out what an evaluation that behaves like this can see, and
// what it costs.
func conclude(found loop.Inspection, timeout time.Duration) inspected {
	result := inspected{Inspection: found, Findings: []string{}}
	if found.Problem != "" {
		result.Findings = append(result.Findings, found.Problem)
		return result
	}
	rule := found.Rule.Decision()
	result.Visible = decision.Visible(rule, found.Samples)
	minutes := func(runs int, rooms float64) float64 {
		return (float64(runs)*found.Seconds + rooms*found.Prepare) / 60
	}
	switch rule.Regime {
	case decision.Noisy:
		result.Runs = 4 + 4*rule.Pairs
		result.Minutes, result.Rejected = minutes(result.Runs, 4), minutes(8, 2)
	case decision.Repeatable:
		result.Runs, result.Minutes, result.Rejected = 3, minutes(3, 3), minutes(1, 1)
	case decision.Single:
		result.Runs, result.Minutes, result.Rejected = 1, minutes(1, 1), minutes(1, 1)
	}
	if result.Minutes > timeout.Minutes() {
		result.Findings = append(result.Findings, fmt.Sprintf("a candidate that is kept takes %.3g minutes, more than timeout-minutes %.0f: set `timeout-minutes: %.0f`, or make the evaluation faster or steadier",
			result.Minutes, timeout.Minutes(), math.Ceil(result.Minutes*1.25)))
	}
	if found.Noisy && rule.Regime == decision.Single {
		result.Findings = append(result.Findings, "the evaluation is noisy and `evaluation-runs: 1` compares single runs: what is kept may be chance; remove the line")
	}
	if share := result.Visible / math.Abs(found.Median.Float64()); rule.Regime == decision.Noisy && share > 0.1 {
		result.Findings = append(result.Findings, fmt.Sprintf("only gains beyond %.0f %% of the metric can be told from chance: measure longer, on a quieter machine, or raise `evaluation-runs`", share*100))
	}
	return result
}

// inIsolation notes how the evaluation was isolated, and why it was not.
func (r *inspected) inIsolation(ctx context.Context, runner *process.Runner, wished, runDir string, env Env) {
	if runner.Isolation != nil {
		r.Isolation = string(runner.Isolation.Method)
		return
	}
	r.Isolation = "off"
	if wished == "off" {
		return
	}
	probe := runner.ProbeIsolation(ctx, runDir, env.Environ)
	r.Findings = append(r.Findings, "agent and evaluation are not isolated, and can read and write all that you can: "+probe.Reason)
}

// withinReach warns of directories that the script runs or reads and in which
// the target lets files change: only files that it names are protected.
func withinReach(p *program.Program, tracked []string) []string {
	matcher := p.Matcher()
	holds := func(dir string) bool {
		return slices.ContainsFunc(tracked, func(file string) bool {
			return strings.HasPrefix(file, dir+"/") && matcher.Allows(file)
		})
	}
	var findings []string
	for _, dir := range p.ScriptFiles(holds) {
		if entered(p.Script, dir) {
			continue
		}
		findings = append(findings, fmt.Sprintf("the evaluation names the directory %s, in which the target lets files change: "+
			"make sure that what prints the number is not among them, and name it under `protect`", dir))
	}
	return findings
}

// entered reports whether the script only changes into a directory.
func entered(script, dir string) bool {
	for _, found := range changesInto.FindAllStringSubmatch(script, -1) {
		if to := strings.Trim(found[1], `"'`); strings.HasSuffix(dir, path.Clean(to)) {
			return true
		}
	}
	return false
}

var changesInto = regexp.MustCompile(`(?:\bcd|\bpushd|-C)\s+([^\s;&|]+)`)

func describeInspection(r inspected) string {
	if r.Problem != "" {
		return ""
	}
	var out strings.Builder
	kind := "deterministic so far: two runs in two trees gave the same"
	switch {
	case r.Rule.Decision().Regime == decision.Single:
		kind = "measured once (evaluation-runs: 1)"
	case r.Noisy && statistics.Same(r.Samples):
		kind = "noisy: a guardrail does not repeat itself"
	case r.Noisy:
		kind = "noisy"
	}
	visible := "any"
	if r.Visible > 0 {
		visible = strconv.FormatFloat(r.Visible, 'g', 3, 64)
	}
	table := render.Table{Header: []string{r.Program, ""}, Rows: [][]string{
		{"the evaluation is", kind},
		{"metric", fmt.Sprintf("%s (median of %d runs)", r.Median, len(r.Samples))},
	}}
	if r.Noisy {
		table.Rows = append(table.Rows, []string{"spread between the quartiles", statistics.Spread(r.Samples).String()})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Guardrails)) {
		samples := r.Guardrails[name]
		table.Rows = append(table.Rows, []string{"guardrail " + render.Plain(name, 60), fmt.Sprintf("%s, spread %s", statistics.Median(samples), statistics.Spread(samples))})
	}
	table.Rows = append(table.Rows,
		[]string{"smallest visible gain", visible},
		[]string{"one run", fmt.Sprintf("%.3g s, and %.3g s for its tree and setup", r.Seconds, r.Prepare)},
		[]string{"one candidate", fmt.Sprintf("%.3g min when kept (%d runs), mostly %.3g min when rejected", r.Minutes, r.Runs, r.Rejected)},
	)
	table.Rows = append(table.Rows, []string{"isolation", r.Isolation})
	out.WriteString(table.String())
	if r.Noisy && len(r.Samples) > 1 {
		out.WriteString("\n" + render.Strips([]render.Strip{{Name: "runs", Samples: floats(r.Samples), Note: "median " + r.Median.String()}}, pictureWidth,
			slices.MinFunc(r.Samples, metric.Value.Cmp).String(), slices.MaxFunc(r.Samples, metric.Value.Cmp).String()))
	}
	for _, finding := range r.Findings {
		out.WriteString("! " + finding + "\n")
	}
	return out.String()
}
