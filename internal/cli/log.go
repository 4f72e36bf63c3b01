package cli

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render"
)

// logOptions are the flags of `iterate log`.
type logOptions struct {
	app.Options

	json, tsv bool
}

func newLogCommand(env Env, parent *iterateOptions) *cobra.Command {
	var o logOptions
	cmd := &cobra.Command{
		Use:   "log PROGRAM [ITERATION]",
		Short: "List the iterations of a program, or show one whole",
		Long: "List the iterations of a program with what they measured, and why they were kept or not. With a number, show\n" +
			"that iteration with all of its reasons, the end of what a failed evaluation printed, and the files with all\n" +
			"that the last evaluations on this machine printed. --tsv prints a table for other programs: iteration, time, outcome,\n" +
			"metric, best, seconds of one run, p of the last comparison, commit, and summary.",
		Example: "  iterate log speed\n  iterate log speed 7\n  iterate log speed --tsv",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.RepoDir, o.Programs, o.Program = parent.RepoDir, parent.Programs, args[0]
			return showLog(cmd.Context(), env, o, args[1:])
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print the events of the iterations as a JSON array")
	cmd.Flags().BoolVar(&o.tsv, "tsv", false, "print tab-separated values")
	sharedFlags(cmd.Flags(), &o.Options)
	dirFlag(cmd.Flags(), &o.Options)
	cmd.MarkFlagsMutuallyExclusive("json", "tsv")
	return cmd
}

func showLog(ctx context.Context, env Env, o logOptions, number []string) error {
	only := 0
	if len(number) > 0 {
		var err error
		if only, err = strconv.Atoi(number[0]); err != nil || only < 1 {
			return misuse.Errorf("%q is no number of an iteration: give 1 or more", number[0])
		}
	}
	deps, err := app.Open(ctx, env, o.Options)
	if err != nil {
		return err
	}
	o.Program = deps.Options.Program
	files, _, err := deps.Memory.Read(ctx, o.Program)
	if err != nil {
		return err
	}
	if files.Ledger == nil {
		return noHistory(ctx, deps, o.Program)
	}
	return printLog(ctx, env, o, files, only)
}

// printLog goes through the ledger segment by segment, and keeps of each iteration what
// is printed.
func printLog(ctx context.Context, env Env, o logOptions, files memory.Files, only int) error {
	lines, records, table := []json.RawMessage{}, [][]string{render.LogFields()}, render.LogTable()
	decisions := history.Decisions{Only: only, Each: func(e *history.Decided, seconds float64) (err error) {
		switch {
		case o.json:
			var line json.RawMessage
			line, err = history.Line(e)
			lines = append(lines, line)
		case o.tsv:
			records = append(records, render.LogRecord(e, seconds))
		case only == 0:
			table.Rows = append(table.Rows, render.LogRow(e))
		}
		return err
	}}
	if err := files.Segments(ctx, decisions.Read); err != nil {
		return fmt.Errorf("read %s.jsonl on the memory branch: %w", o.Program, err)
	}
	last, names := files.Archive().Last()
	switch {
	case only > 0 && decisions.Found == nil && only <= last:
		return misuse.Errorf("iteration %d of %s is archived in %s", only, o.Program, files.Archive().FileOf(only))
	case only > 0 && decisions.Found == nil:
		return misuse.Errorf("iteration %d of %s was not decided: `iterate log %s` lists those that were", only, o.Program, o.Program)
	case o.json:
		return printJSON(env, lines)
	case o.tsv:
		out := csv.NewWriter(env.Stdout)
		out.Comma = '\t'
		return out.WriteAll(records)
	case only > 0:
		_, err := fmt.Fprint(env.Stdout, render.Decision(decisions.Found, decisions.Seconds), render.FailedOutput(decisions.Measured, decisions.Found), outputs(env, o.Dir, o.Program, decisions.Found))
		return err
	}
	if last > 0 {
		fmt.Fprintf(env.Stderr, "iterations 1 to %d are archived in %s\n", last, names)
	}
	_, err := fmt.Fprint(env.Stdout, colored(env, table.Fit(env.TableWidth()).String()))
	return err
}

// outputs names the files of this machine that have all that an iteration's evaluations
// printed.
func outputs(env Env, output, name string, decided *history.Decided) string {
	dir, err := env.OutputDir(output)
	if err != nil {
		return ""
	}
	list := loop.Outputs(app.Transcripts(dir), name, decided.Iteration, decided.Run)
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("\nall that its evaluations printed:\n  %s\n", strings.Join(list, "\n  "))
}

// noHistory is the error of a program without records, perhaps a misspelt one.
func noHistory(ctx context.Context, deps *app.Deps, name string) error {
	if meant := deps.Meant(ctx, name); meant != "" {
		return misuse.Errorf("program %q has no history%s", name, meant)
	}
	return misuse.Errorf("program %q has no history yet: run `iterate --program %s` first", name, name)
}
