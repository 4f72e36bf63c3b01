package cli

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render"
)

func (a *App) newLogCommand() *cobra.Command {
	var tsv, diff bool
	var html string
	cmd := &cobra.Command{
		Use:   "log PROGRAM|WORKSPACE [ITERATION]",
		Short: "List the iterations of a program or of a skill's workspace, or show one whole",
		Long: `List the iterations of a program with what they measured, and why they were kept or not. With a
number show that iteration whole: all of its reasons, what its agent used, the end of what a failed
evaluation printed, and the files with all that the last evaluations on this machine printed.

Of a skill's workspace print the trajectory, its class, what changed from v0 to the best version,
what still fails, and a recommendation; with a number the pass rate of that iteration.`,
		Example: "  iterate log speed\n  iterate log speed 7\n  iterate log speed --tsv\n" +
			"  iterate log skills/release-notes-autoresearch --diff | git apply --directory=skills/release-notes",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if a.isSuite(ctx, args[0]) {
				if err := onlyFor("programs", cmd, "tsv", "dir", "remote", "repo", "local"); err != nil {
					return err
				}
				if len(args) > 1 {
					return a.scoreIteration(ctx, args)
				}
				return a.reportSkill(ctx, args[0], diff, html)
			}
			if err := onlyFor("workspaces of skills", cmd, "diff", "html"); err != nil {
				return err
			}
			only := 0
			if len(args) > 1 {
				var err error
				if only, err = strconv.Atoi(args[1]); err != nil || only < 1 {
					return misuse.Errorf("%q is no number of an iteration: give 1 or more", args[1])
				}
			}
			a.Program = args[0]
			return a.log(ctx, only, tsv)
		},
	}
	a.jsonFlag(cmd)
	cmd.Flags().BoolVar(&tsv, "tsv", false, "print tab-separated values")
	a.sharedFlags(cmd)
	a.dirFlag(cmd)
	cmd.Flags().BoolVar(&diff, "diff", false, "print the patch of a skill from v0 to the best version alone")
	cmd.Flags().StringVar(&html, "html", "",
		"write a page of a skill into this file: cases and versions, evidence, the change")
	cmd.MarkFlagsMutuallyExclusive("json", "tsv", "diff", "html")
	return cmd
}

// log prints the decisions of a program, or one of them whole; 0 is all.
func (a *App) log(ctx context.Context, only int, tsv bool) error {
	if err := a.open(ctx); err != nil {
		return err
	}
	files, _, err := a.Memory.Read(ctx, a.Program)
	if err != nil {
		return err
	}
	ledger, err := files.Log()
	if err != nil {
		return err
	}
	if files.Ledger == nil {
		return a.noHistory(ctx, a.Program)
	}
	undone := map[int]bool{}
	for _, e := range ledger.Events {
		undone[history.UndoneBy(e)] = true
	}
	lines, table := []history.Event{}, render.LogTable()
	decisions := history.Decisions{Only: only, Each: func(e *history.Decided, seconds float64) error {
		row := render.LogRow(e)
		if tsv {
			row = render.LogRecord(e, seconds)
		}
		if undone[e.Iteration] && e.Outcome == history.Accepted {
			row[2] = string(history.Undone)
		}
		lines, table.Rows = append(lines, e), append(table.Rows, row)
		return nil
	}}
	if err := decisions.Read(ledger.Events); err != nil {
		return err
	}
	for _, n := range slices.Sorted(maps.Keys(decisions.Undone)) {
		if only == 0 || n == only {
			lines = append(lines, decisions.Undone[n])
		}
	}
	if undone[only] && decisions.Found != nil {
		decisions.Found = render.Undone(decisions.Found)
	}
	switch {
	case only > 0 && decisions.Found == nil:
		return misuse.Errorf("iteration %d of %s was not decided: `iterate log %[2]s` lists those that were", only,
			a.Program)
	case a.JSON:
		return a.printEvents(lines)
	case tsv:
		out := csv.NewWriter(a.Stdout)
		out.Comma = '\t'
		return out.WriteAll(append([][]string{render.LogFields()}, table.Rows...))
	case only > 0:
		_, err := fmt.Fprint(a.Stdout, render.Decision(&decisions),
			render.FailedOutput(decisions.Measured, decisions.Found), a.outputs(decisions.Found))
		return err
	}
	_, err = fmt.Fprint(a.Stdout, colored(a.Env, table.Fit(a.TableWidth()).String()))
	return err
}

// printEvents prints events as the ledger has them.
func (a *App) printEvents(events []history.Event) error {
	lines := make([]json.RawMessage, len(events))
	for i, e := range events {
		line, err := history.Line(e)
		if err != nil {
			return err
		}
		lines[i] = line
	}
	return a.printJSON(lines)
}

// outputs names the files of this machine that have all that an iteration's evaluations
// printed.
func (a *App) outputs(decided *history.Decided) string {
	dir, err := a.outputDir()
	if err != nil {
		return ""
	}
	list := loop.Outputs(a.transcripts(dir), a.Program, decided.Iteration, decided.Run)
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("\nall that its evaluations printed:\n  %s\n", strings.Join(list, "\n  "))
}

// noHistory is the error of a program without records, perhaps a misspelt one.
func (a *App) noHistory(ctx context.Context, name string) error {
	if meant := a.meant(ctx, name); meant != "" {
		return misuse.Errorf("program %q has no history%s", name, meant)
	}
	return misuse.Errorf("program %q has no history yet: run `iterate --program %s` first", name, name)
}
