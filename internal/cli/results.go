package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

// warnings are those of all results, each once.
func warnings(results []render.Result) []string {
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
func failed(results []render.Result, onError bool) error {
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
func (a *App) deliver(p *program.Program, results []render.Result) error {
	text, results := "", append([]render.Result{}, results...)
	if len(results) > 0 {
		text = colored(a.Env, render.ResultTable(results).Fit(a.TableWidth()).String()) + render.Notes(results)
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
