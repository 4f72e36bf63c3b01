package cli

import (
	"errors"
	"fmt"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
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
		return printEscapedJSON(env, results)
	}
	if len(results) == 0 {
		return nil
	}
	fmt.Fprint(env.Stdout, colored(env, loop.ResultTable(results).Fit(env.TableWidth()).String()), loop.Notes(results))
	for _, warning := range loop.Warnings(results) {
		fmt.Fprintln(env.Stderr, "warning:", plain.Line(warning))
	}
	return nil
}

// Colours of a terminal.
const (
	green      = "\x1b[32m"
	yellow     = "\x1b[33m"
	red        = "\x1b[31m"
	plainColor = "\x1b[0m"
)

// outcomeCell is the outcome in a row of a table, behind the iteration and perhaps its time.
var outcomeCell = lazyregexp.New(`(?m)^( *\d+  (?:\d{4}-\d\d-\d\d \d\d:\d\d  )?)(kept|not kept|error)( |$)`)

// colored paints the outcomes on a terminal.
func colored(env Env, table string) string {
	if !env.Color() {
		return table
	}
	paint := map[string]string{"kept": green, "not kept": yellow, "error": red}
	return outcomeCell().ReplaceAllStringFunc(table, func(cell string) string {
		parts := outcomeCell().FindStringSubmatch(cell)
		return parts[1] + paint[parts[2]] + parts[2] + plainColor + parts[3]
	})
}
