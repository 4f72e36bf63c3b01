package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fatih/color"

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
