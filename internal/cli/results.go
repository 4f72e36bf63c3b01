package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

// resultTable has a row for every iteration of a run.
func resultTable(results []loop.Result) render.Table {
	table := render.Table{
		Header: []string{"iteration", "outcome", "metric", "incumbent", "delta", "best", "time", "why"},
		Align:  "rlrrrrr",
	}
	noisy := false
	for _, r := range results {
		delta, incumbent := "—", "—"
		if r.Delta != nil {
			delta = *r.Delta
		}
		if n := len(r.Evidence); n > 0 {
			incumbent, noisy = r.Evidence[n-1].Incumbent.String(), true
		}
		f := render.Rounded(metric.Text(r.Metric, "—"), incumbent, delta, metric.Text(r.BestMetric, "—"),
			plain.Line(render.Why(r.Outcome, r.Summary, r.Reasons, nil)))
		word := render.OutcomeOf(r.Outcome).Word
		if r.Bundle != "" { // it has no outcome before it is published
			word = "proposed"
		}
		table.Rows = append(table.Rows, []string{
			strconv.Itoa(r.Iteration), word, f[0], f[1], f[2], f[3], fmt.Sprintf("%.1fs", r.Seconds), f[4],
		})
	}
	if noisy { // what a noisy candidate was compared with is not the best on record
		return table
	}
	table.Header, table.Align = slices.Delete(table.Header, 3, 4), "rlrrrr"
	for i, row := range table.Rows {
		table.Rows[i] = slices.Delete(row, 3, 4)
	}
	return table
}

// notes is what a person should know of a run besides its table and its warnings.
func notes(results []loop.Result) string {
	if len(results) == 0 {
		return ""
	}
	var out strings.Builder
	for _, r := range results { // why evaluations failed, whole, and where their output is
		if r.Output == "" {
			continue
		}
		for _, reason := range r.Reasons {
			fmt.Fprintf(&out, "\niteration %d: %s\n", r.Iteration, plain.Line(reason.String()))
		}
		fmt.Fprintf(&out, "  all that it printed: %s\n", r.Output)
	}
	for i, r := range results { // what noisy trials said of every kept iteration, and of the last one
		if n := len(r.Evidence); n > 0 && (r.Outcome == history.Accepted || i == len(results)-1) {
			fmt.Fprintf(&out, "\niteration %d, %s: %s\n", r.Iteration, r.Evidence[n-1].Stage,
				render.Trial(r.Evidence[n-1]))
		}
	}
	last := results[len(results)-1]
	if last.Bundle != "" {
		out.WriteString("\nnothing is recorded yet: `iterate job publish` verifies the bundle, and records it\n")
	}
	if last.Initial != nil && last.BestMetric != nil {
		remark := ""
		if last.Noisy {
			remark = "; noisy and measured at different times, so the sum of the gains may differ"
		}
		figures := render.Rounded(last.Initial.String(), last.BestMetric.String(),
			metric.Delta(*last.BestMetric, last.Initial))
		fmt.Fprintf(&out, "\n%s: %s at the start, %s now (%s%s)\n", last.Program, figures[0], figures[1],
			figures[2], remark)
	}
	if last.Stopped != "" {
		fmt.Fprintf(&out, "%s: %s\n", last.Program, last.Stopped)
	}
	return out.String()
}

// warnings are those of all results, each once.
func warnings(results []loop.Result) []string {
	var list []string
	for _, r := range results {
		for _, warning := range r.Warnings {
			if !slices.Contains(list, warning) {
				list = append(list, warning)
			}
		}
	}
	return list
}

// failed is the first of the results that fails a run: unchanged files that cannot be
// measured, and with onError every iteration that ended in an error.
func failed(results []loop.Result, onError bool) error {
	for _, r := range results {
		switch {
		case r.BaselineError != "":
			return fmt.Errorf("%s cannot be measured: %s", r.Program, r.BaselineError)
		case onError && r.Outcome == history.Error:
			return fmt.Errorf("iteration %d of %s ended in an error: %s", r.Iteration, r.Program,
				decision.Joined(r.Reasons))
		}
	}
	return nil
}

// deliver prints the results of a run, a JSON array or a table and what a person should
// know besides, and tells GitHub Actions of them.
func (a *App) deliver(p *program.Program, results []loop.Result) error {
	text, results := "", append([]loop.Result{}, results...)
	if len(results) > 0 {
		text = colored(a.Env, resultTable(results).Fit(a.TableWidth()).String()) + notes(results)
	}
	err := a.print(results, text)
	if !a.JSON {
		a.warn(warnings(results)...)
	}
	dir, failed := a.outputDir()
	if failed == nil {
		failed = a.ReportRun(p, results, dir)
	}
	return errors.Join(err, failed)
}

// Colours of a terminal.
const (
	green      = "\x1b[32m"
	yellow     = "\x1b[33m"
	red        = "\x1b[31m"
	plainColor = "\x1b[0m"
)

// painted are the words that are coloured, between what is around them: the outcome in a row of
// a table, behind the iteration and perhaps its time, and the verdict on a comparison or at the
// end of a row.
var painted = lazyregexp.New(`(?m)^( *\d+  (?:\d{4}-\d\d-\d\d \d\d:\d\d  )?)(kept|not kept|error)( |$)|` +
	`(^|  )(improved|neutral|regressed|missing)(:|$)`)

// colored paints outcomes and verdicts on a terminal.
func colored(env Env, text string) string {
	if !env.Color() {
		return text
	}
	paint := map[string]string{
		"kept": green, "not kept": yellow, "error": red,
		"improved": green, "neutral": yellow, "regressed": red, "missing": red,
	}
	return painted().ReplaceAllStringFunc(text, func(cell string) string {
		p := painted().FindStringSubmatch(cell)
		word := p[2] + p[5]
		return p[1] + p[4] + paint[word] + word + plainColor + p[3] + p[6]
	})
}

// asObject runs a command that tells people what it does. With --json it tells them on
// standard error, and standard output is what it returns, also when it fails; nil prints
// nothing.
func asObject[T any](a *App, do func() (*T, error)) error {
	out := a.Stdout
	if a.JSON {
		a.Stdout = a.Stderr
	}
	done, err := do()
	if a.Stdout = out; a.JSON && done != nil {
		err = errors.Join(err, json.NewEncoder(out).Encode(done))
	}
	return err
}

// printJSON prints a value for programs.
func (a *App) printJSON(value any) error {
	encoder := json.NewEncoder(a.Stdout)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// print prints a value for programs, or a text for people.
func (a *App) print(value, text any) error {
	if a.JSON {
		return a.printJSON(value)
	}
	_, err := fmt.Fprint(a.Stdout, text)
	return err
}

// warn says what people should know besides; nothing for "". Thousands of lines are one text,
// since each write is a wait for whoever reads it.
func (a *App) warn(texts ...string) {
	var out strings.Builder
	for _, text := range texts {
		if text != "" {
			out.WriteString("warning: " + plain.Line(text) + "\n")
		}
	}
	fmt.Fprint(a.Stderr, &out)
}

// errPrinted is a failure of which everything was printed already.
var errPrinted = errors.New("it failed")

// verdict is an error, else a failure that was printed already.
func verdict(err error, failed bool) error {
	if err == nil && failed {
		err = errPrinted
	}
	return err
}
