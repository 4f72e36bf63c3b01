package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/fatih/color"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

// deliver prints the results of a run, and tells GitHub Actions of them.
func deliver(env Env, o iterateOptions, p *program.Program, results []loop.Result) error {
	return errors.Join(printResults(env, results, o.json), reportRun(env, o, p, results))
}

// reportRun tells GitHub Actions of the results of a run.
func reportRun(env Env, o iterateOptions, p *program.Program, results []loop.Result) error {
	dir, err := env.OutputDir(o.Dir)
	if err != nil {
		return err
	}
	return env.Actions().ReportRun(p, results, dir)
}

// printResults writes the results of a run: a JSON array, or a table and what
// a person should know besides.
func printResults(env Env, results []loop.Result, asJSON bool) error {
	if asJSON {
		if results == nil {
			results = []loop.Result{}
		}
		encoder := json.NewEncoder(env.Stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(results)
	}
	if len(results) == 0 {
		return nil
	}
	fmt.Fprint(env.Stdout, colored(env, resultTable(results).Fit(env.TableWidth()).String()))
	fmt.Fprint(env.Stdout, failedEvaluations(results))
	fmt.Fprint(env.Stdout, pictures(results))
	last := results[len(results)-1]
	if last.Bundle != "" {
		fmt.Fprintln(env.Stdout, "\nnothing is recorded yet: `iterate publish` verifies the bundle, and records it")
	}
	if last.Initial != nil && last.BestMetric != nil {
		remark := ""
		if last.Noisy {
			remark = "; noisy and measured at different times, so the sum of the gains may differ"
		}
		fmt.Fprintf(env.Stdout, "\n%s: %s at the start, %s now (%s%s)\n", last.Program, last.Initial, last.BestMetric, metric.Delta(*last.BestMetric, last.Initial), remark)
	}
	if last.Stopped != "" {
		fmt.Fprintf(env.Stdout, "%s is %s\n", last.Program, last.Stopped)
	}
	printWarnings(env.Stderr, results)
	return nil
}

// failedEvaluations says why evaluations failed, whole, and where their output is.
func failedEvaluations(results []loop.Result) string {
	var out strings.Builder
	for _, r := range results {
		if r.Output == "" {
			continue
		}
		for _, reason := range r.Reasons {
			fmt.Fprintf(&out, "\niteration %d: %s\n", r.Iteration, plain.Line(reason))
		}
		fmt.Fprintf(&out, "  all that it printed: %s\n", r.Output)
	}
	return out.String()
}

func resultTable(results []loop.Result) render.Table {
	table := render.Table{
		Header: []string{"iteration", "outcome", "metric", "delta", "best", "time", "why"},
		Right:  map[int]bool{0: true, 2: true, 3: true, 4: true, 5: true},
	}
	noisy := slices.ContainsFunc(results, func(r loop.Result) bool { return len(r.Evidence) > 0 })
	if noisy { // what a noisy candidate was compared with is not the best on record
		table.Header = slices.Insert(table.Header, 3, "incumbent")
		table.Right[6] = true
	}
	for _, r := range results {
		delta := "—"
		if r.Delta != nil {
			delta = *r.Delta
		}
		why := r.Summary
		if r.Outcome != history.Accepted && len(r.Reasons) > 0 {
			why = strings.Join(r.Reasons, "; ")
		}
		table.Rows = append(table.Rows, []string{
			strconv.Itoa(r.Iteration), outcomeWord(r), number(r.Metric), delta, number(r.BestMetric),
			strconv.FormatFloat(r.Seconds, 'f', 1, 64) + "s", plain.Line(why),
		})
		if noisy {
			incumbent := "—"
			if n := len(r.Evidence); n > 0 {
				incumbent = r.Evidence[n-1].Incumbent.String()
			}
			last := len(table.Rows) - 1
			table.Rows[last] = slices.Insert(table.Rows[last], 3, incumbent)
		}
	}
	return table
}

// outcomeWord is the outcome; what is in a bundle has no outcome before it is published.
func outcomeWord(r loop.Result) string {
	if r.Bundle != "" {
		return "proposed"
	}
	return string(r.Outcome)
}

// colored paints the outcomes on a terminal.
func colored(env Env, table string) string {
	if !env.Color() {
		return table
	}
	for word, paint := range map[string]*color.Color{
		" accepted ": color.New(color.FgGreen), " rejected ": color.New(color.FgYellow), " inconclusive ": color.New(color.FgYellow), " error ": color.New(color.FgRed),
	} {
		paint.EnableColor()
		table = strings.ReplaceAll(table, word, " "+paint.Sprint(strings.TrimSpace(word))+" ")
	}
	return table
}

func printWarnings(out io.Writer, results []loop.Result) {
	said := map[string]bool{}
	for _, r := range results {
		for _, warning := range r.Warnings {
			if !said[warning] {
				fmt.Fprintln(out, "warning:", plain.Line(warning))
			}
			said[warning] = true
		}
	}
}

func number(v *metric.Value) string {
	if v == nil {
		return "—"
	}
	return v.String()
}
