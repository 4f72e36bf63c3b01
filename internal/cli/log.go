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

// logOptions are the flags of `iterate log`.
type logOptions struct {
	Options
	reportOptions

	tsv bool
}

func newLogCommand(env Env, shared *iterateOptions) *cobra.Command {
	var o logOptions
	cmd := &cobra.Command{
		Use:   "log PROGRAM|WORKSPACE [ITERATION]",
		Short: "List the iterations of a program or of a skill's workspace, or show one whole",
		Long: `List the iterations of a program with what they measured, and why they were kept or not. With a
number show that iteration whole: all of its reasons, the end of what a failed evaluation printed,
and the files with all that the last evaluations on this machine printed.

Of a skill's workspace print the trajectory, its class, what changed from v0 to the best version,
what still fails, and a recommendation; with a number the pass rate of that iteration.`,
		Example: "  iterate log speed\n  iterate log speed 7\n  iterate log speed --tsv\n" +
			"  iterate log skills/release-notes-autoresearch --diff | git apply --directory=skills/release-notes",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if isSuite(cmd.Context(), env, shared.Options, args[0]) {
				if err := onlyFor("programs", cmd.Flags().Changed, "tsv", "dir", "remote", "repo",
					"local"); err != nil {
					return err
				}
				if len(args) > 1 {
					return scoreIteration(cmd.Context(), env, args[0], args[1], o.json)
				}
				return reportSkill(cmd.Context(), env, args[0], o.reportOptions)
			}
			if err := onlyFor("workspaces of skills", cmd.Flags().Changed, "diff", "html"); err != nil {
				return err
			}
			o.Options, o.Program = shared.Options, args[0]
			return showLog(cmd.Context(), env, o, args[1:])
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print the events of the iterations as a JSON array")
	cmd.Flags().BoolVar(&o.tsv, "tsv", false, "print tab-separated values")
	sharedFlags(cmd.Flags(), &shared.Options)
	dirFlag(cmd.Flags(), &shared.Options)
	cmd.Flags().BoolVar(&o.diff, "diff", false, "print the patch of a skill from v0 to the best version alone")
	cmd.Flags().StringVar(&o.html, "html", "",
		"write a page of a skill into this file: cases and versions, evidence, the change")
	cmd.MarkFlagsMutuallyExclusive("json", "tsv", "diff", "html")
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
	deps, err := openDeps(ctx, env, o.Options)
	if err != nil {
		return err
	}
	o.Program = deps.Options.Program
	files, _, err := deps.Memory.Read(ctx, o.Program)
	if err != nil {
		return err
	}
	ledger, err := files.Log()
	if err != nil {
		return err
	}
	if files.Ledger == nil {
		return deps.noHistory(ctx, o.Program)
	}
	return printLog(env, deps, o, ledger, only)
}

// printLog prints the decisions of a ledger.
func printLog(env Env, deps *dependencies, o logOptions, ledger *history.Log, only int) error {
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
	if err := decisions.Read(ledger.Events); err != nil {
		return err
	}
	kept := []string{string(history.Accepted), render.OutcomeOf(history.Accepted).Word} // for programs, for people
	for _, row := range append(records[1:], table.Rows...) {
		if n, err := strconv.Atoi(row[0]); err == nil && decisions.Undone[n] != nil && slices.Contains(kept, row[2]) {
			row[2] = string(history.Undone)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(decisions.Undone)) {
		line, err := history.Line(decisions.Undone[n])
		if err != nil {
			return err
		}
		if only == 0 || n == only {
			lines = append(lines, line)
		}
	}
	if decisions.Undone[only] != nil && decisions.Found != nil {
		decisions.Found = render.Undone(decisions.Found)
	}
	switch {
	case only > 0 && decisions.Found == nil:
		return misuse.Errorf("iteration %d of %s was not decided: `iterate log %s` lists those that were", only,
			o.Program, o.Program)
	case o.json:
		return printJSON(env, lines)
	case o.tsv:
		out := csv.NewWriter(env.Stdout)
		out.Comma = '\t'
		return out.WriteAll(records)
	case only > 0:
		_, err := fmt.Fprint(env.Stdout, render.Decision(&decisions),
			render.FailedOutput(decisions.Measured, decisions.Found), outputs(env, deps, o, decisions.Found))
		return err
	}
	_, err := fmt.Fprint(env.Stdout, colored(env, table.Fit(env.TableWidth()).String()))
	return err
}

// outputs names the files of this machine that have all that an iteration's evaluations
// printed.
func outputs(env Env, deps *dependencies, o logOptions, decided *history.Decided) string {
	dir, err := env.OutputDir(o.Dir)
	if err != nil {
		return ""
	}
	list := loop.Outputs(deps.Transcripts(dir), o.Program, decided.Iteration, decided.Run)
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("\nall that its evaluations printed:\n  %s\n", strings.Join(list, "\n  "))
}

// noHistory is the error of a program without records, perhaps a misspelt one.
func (d *dependencies) noHistory(ctx context.Context, name string) error {
	if meant := d.Meant(ctx, name); meant != "" {
		return misuse.Errorf("program %q has no history%s", name, meant)
	}
	return misuse.Errorf("program %q has no history yet: run `iterate --program %s` first", name, name)
}
