package cli

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
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
	cmd.Flags().StringVar(&o.Remote, "remote", "", "the git remote that the history is shared with (default: origin with GitHub)")
	githubFlags(cmd.Flags(), &o.GitHub)
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
	events, err := files.Events(ctx)
	if err != nil {
		return fmt.Errorf("read %s.jsonl on the memory branch: %w", o.Program, err)
	}
	list := []*history.Decided{}
	seconds := map[int]float64{} // of one run of the candidate, by iteration
	for _, e := range events {
		switch e := e.(type) {
		case *history.Measured:
			if e.Role == history.Candidate {
				seconds[e.Iteration] = e.Seconds
			}
		case *history.Decided:
			if only == 0 || e.Iteration == only {
				list = append(list, e)
			}
		}
	}
	switch {
	case only > 0 && len(list) == 0:
		return misuse.Errorf("iteration %d of %s was not decided: `iterate log %s` lists those that were", only, o.Program, o.Program)
	case o.json:
		return printEvents(env, list)
	case o.tsv:
		return writeLog(env, list, seconds)
	case only > 0:
		_, err = fmt.Fprint(env.Stdout, describeIteration(list[len(list)-1], seconds[only]), printed(env, o.Program, events, list[len(list)-1]))
	default:
		_, err = fmt.Fprint(env.Stdout, colored(env, logTable(list).Fit(env.TableWidth()).String()))
	}
	return err
}

// printEvents prints events as the ledger has them, with what this version does not
// know.
func printEvents(env Env, list []*history.Decided) error {
	lines := make([]json.RawMessage, len(list))
	for i, e := range list {
		line, err := history.Line(e)
		if err != nil {
			return err
		}
		lines[i] = line
	}
	return printJSON(env, lines)
}

// noHistory is the error of a program without records, perhaps a misspelt one.
func noHistory(ctx context.Context, deps *app.Deps, name string) error {
	if meant := deps.Meant(ctx, name); meant != "" {
		return misuse.Errorf("program %q has no history%s", name, meant)
	}
	return misuse.Errorf("program %q has no history yet: run `iterate --program %s` first", name, name)
}

// logTable has every reason whole.
func logTable(list []*history.Decided) render.Table {
	table := render.Table{Header: []string{"iteration", "time", "outcome", "metric", "best", "why"}, Right: map[int]bool{0: true, 3: true, 4: true}}
	for _, e := range list {
		why := e.Summary
		if e.Outcome != history.Accepted && len(e.Reasons) > 0 {
			why = strings.Join(e.Reasons, "; ")
		}
		table.Rows = append(table.Rows, []string{
			strconv.Itoa(e.Iteration), e.Time.UTC().Format("2006-01-02 15:04"), string(e.Outcome), number(e.Metric), number(e.Best), plain.Line(why),
		})
	}
	return table
}

func writeLog(env Env, list []*history.Decided, seconds map[int]float64) error {
	out := csv.NewWriter(env.Stdout)
	out.Comma = '\t'
	rows := [][]string{{"iteration", "time", "outcome", "metric", "best", "seconds", "p", "commit", "summary"}}
	for _, e := range list {
		p, took := "", ""
		if n := len(e.Evidence); n > 0 {
			p = strconv.FormatFloat(e.Evidence[n-1].P, 'g', -1, 64)
		}
		if s := seconds[e.Iteration]; s > 0 {
			took = strconv.FormatFloat(s, 'f', -1, 64)
		}
		rows = append(rows, []string{
			strconv.Itoa(e.Iteration), e.Time.UTC().Format(time.RFC3339), string(e.Outcome), valueText(e.Metric), valueText(e.Best), took, p, e.Commit,
			plain.Line(e.Summary),
		})
	}
	return out.WriteAll(rows)
}

func valueText(v *metric.Value) string {
	if v == nil {
		return ""
	}
	return v.String()
}

// describeIteration is one iteration with all that decided it.
func describeIteration(e *history.Decided, seconds float64) string {
	var out strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&out, "%-10s %s\n", name, plain.Line(text))
		}
	}
	line("iteration", strconv.Itoa(e.Iteration))
	line("time", e.Time.UTC().Format(time.RFC3339))
	line("outcome", string(e.Outcome))
	line("summary", e.Summary)
	line("agent", strings.TrimSpace(e.Agent+" "+e.Model))
	line("metric", valueText(e.Metric))
	line("before", valueText(e.PreviousBest))
	line("best", valueText(e.Best))
	if seconds > 0 {
		line("one run", fmt.Sprintf("%.3g s", seconds))
	}
	line("commit", e.Commit)
	line("changed", strings.Join(e.Changed, ", "))
	for _, reason := range e.Reasons {
		line("reason", reason)
	}
	line("warning", e.Warning)
	return out.String()
}

// printed is what the evaluations of an iteration printed: the end of what the last
// one that failed did, and the files of this machine that have all of it.
func printed(env Env, name string, events []history.Event, decided *history.Decided) string {
	var out strings.Builder
	for e := range history.Of[*history.Measured](slices.Backward(events)) {
		if e.Iteration != decided.Iteration || e.Role != history.Candidate || e.Run != decided.Run {
			continue
		}
		if e.Problem != "" && e.Output != "" {
			fmt.Fprintf(&out, "\nthe evaluation printed, at its end:\n")
			for line := range strings.Lines(e.Output) {
				fmt.Fprintf(&out, "  %s\n", plain.Short(strings.TrimRight(line, "\n"), len(line)))
			}
		}
		break
	}
	if dir, err := env.OutputDir(""); err == nil {
		if list := loop.Outputs(app.Transcripts(dir), name, decided.Iteration, decided.Run); len(list) > 0 {
			fmt.Fprintf(&out, "\nall that its evaluations printed:\n  %s\n", strings.Join(list, "\n  "))
		}
	}
	return out.String()
}
