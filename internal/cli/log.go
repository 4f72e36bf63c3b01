package cli

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
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
		"write the report on a skill as a page into this file")
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
	if files.Ledger == nil {
		return a.noHistory(ctx, a.Program)
	}
	past := files.Ledger.Summary()
	account, one := render.Account{Summary: &past}, past.Attempt(only)
	switch {
	case only > 0 && one.Decided == nil:
		return misuse.Errorf("iteration %d of %s was not decided: `iterate log %[2]s` lists those that were", only,
			a.Program)
	case a.JSON:
		return a.printEvents(files.Ledger.Events, only)
	case tsv:
		out := csv.NewWriter(a.Stdout)
		out.Comma = '\t'
		return out.WriteAll(render.LogRecords(account))
	case only > 0:
		_, err := fmt.Fprint(a.Stdout, render.Detail(one), a.outputs(one.Decided))
		return err
	}
	_, err = fmt.Fprint(a.Stdout, colored(a.Env, render.LogTable(account).Fit(a.TableWidth()).String()))
	return err
}

// printEvents prints what was decided, and taken back, as the ledger has it; of one
// iteration alone, or, for 0, of all.
func (a *App) printEvents(events []history.Event, only int) error {
	lines := []json.RawMessage{}
	for _, e := range events {
		_, decided := e.(*history.Decided)
		number := history.UndoneBy(e)
		if decided {
			number = e.Header().Iteration
		}
		if number == 0 || only > 0 && number != only {
			continue
		}
		line, err := history.Line(e)
		if err != nil {
			return err
		}
		lines = append(lines, line)
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
	return misuse.Errorf("program %q has no history%s", name,
		cmp.Or(a.meant(ctx, name), fmt.Sprintf(" yet: run `iterate --program %s` first", name)))
}
