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
	"github.com/org/autoloop/internal/history/memory"
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
	p := logPrinter{only: only, seconds: map[int]float64{}, lines: []json.RawMessage{}}
	switch {
	case o.json:
		p.add = func(e *history.Decided) error {
			line, err := history.Line(e)
			p.lines = append(p.lines, line)
			return err
		}
	case o.tsv:
		p.table.Header = []string{"iteration", "time", "outcome", "metric", "best", "seconds", "p", "commit", "summary"}
		p.add = func(e *history.Decided) error { p.table.Rows = append(p.table.Rows, p.tsvRow(e)); return nil }
	case only > 0:
		p.add = func(*history.Decided) error { return nil }
	default:
		p.table = render.Table{Header: []string{"iteration", "time", "outcome", "metric", "best", "why"}, Right: map[int]bool{0: true, 3: true, 4: true}}
		p.add = func(e *history.Decided) error { p.table.Rows = append(p.table.Rows, logRow(e)); return nil }
	}
	if err := files.Segments(ctx, p.read); err != nil {
		return fmt.Errorf("read %s.jsonl on the memory branch: %w", o.Program, err)
	}
	archive := files.Archive()
	switch {
	case only > 0 && p.found == nil:
		if last, _ := lastArchived(archive); only <= last {
			return misuse.Errorf("iteration %d of %s is archived in %s", only, o.Program, archivedIn(archive, only))
		}
		return misuse.Errorf("iteration %d of %s was not decided: `iterate log %s` lists those that were", only, o.Program, o.Program)
	case o.json:
		return printJSON(env, p.lines)
	case o.tsv:
		return writeTSV(env, append([][]string{p.table.Header}, p.table.Rows...))
	case only > 0:
		_, err := fmt.Fprint(env.Stdout, describeIteration(p.found, p.seconds[only]), printed(env, o.Dir, o.Program, p.measured, p.found))
		return err
	}
	if last, names := lastArchived(archive); last > 0 {
		fmt.Fprintf(env.Stderr, "iterations 1 to %d are archived in %s\n", last, names)
	}
	_, err := fmt.Fprint(env.Stdout, colored(env, p.table.Fit(env.TableWidth()).String()))
	return err
}

// lastArchived is the last iteration that is archived, 0 for none, and the files.
func lastArchived(a *history.Archive) (last int, names string) {
	if a == nil {
		return 0, ""
	}
	var list []string
	for _, file := range a.Files {
		last = max(last, file.LastIteration)
		list = append(list, file.Name)
	}
	return last, strings.Join(list, ", ")
}

// archivedIn is the file that has an iteration.
func archivedIn(a *history.Archive, iteration int) string {
	for _, file := range a.Files {
		if iteration <= file.LastIteration {
			return file.Name
		}
	}
	return ""
}

// logPrinter is what is printed of the iterations.
type logPrinter struct {
	only    int             // the iteration that is meant, 0 for all
	seconds map[int]float64 // of one run of the candidate, by iteration of the segment
	add     func(*history.Decided) error

	table render.Table
	lines []json.RawMessage
	// found is the decision of the iteration that is meant, measured its measurements.
	found    *history.Decided
	measured []history.Event
}

func (p *logPrinter) read(events []history.Event) error {
	if p.only == 0 {
		clear(p.seconds)
	}
	for _, e := range events {
		if p.only > 0 && e.Header().Iteration != p.only {
			continue
		}
		switch e := e.(type) {
		case *history.Measured:
			p.measured = append(p.measured[:len(p.measured):len(p.measured)], e)
			if e.Role == history.Candidate {
				p.seconds[e.Iteration] = e.Seconds
			}
		case *history.Decided:
			p.found = e
			if err := p.add(e); err != nil {
				return err
			}
		}
	}
	if p.only == 0 {
		p.measured, p.found = nil, nil
	}
	return nil
}

func (p *logPrinter) tsvRow(e *history.Decided) []string {
	probability, took := "", ""
	if n := len(e.Evidence); n > 0 {
		probability = strconv.FormatFloat(e.Evidence[n-1].P, 'g', -1, 64)
	}
	if s := p.seconds[e.Iteration]; s > 0 {
		took = strconv.FormatFloat(s, 'f', -1, 64)
	}
	return []string{
		strconv.Itoa(e.Iteration), e.Time.UTC().Format(time.RFC3339), string(e.Outcome), valueText(e.Metric), valueText(e.Best), took, probability, e.Commit,
		plain.Line(e.Summary),
	}
}

// noHistory is the error of a program without records, perhaps a misspelt one.
func noHistory(ctx context.Context, deps *app.Deps, name string) error {
	if meant := deps.Meant(ctx, name); meant != "" {
		return misuse.Errorf("program %q has no history%s", name, meant)
	}
	return misuse.Errorf("program %q has no history yet: run `iterate --program %s` first", name, name)
}

// logRow has every reason whole.
func logRow(e *history.Decided) []string {
	why := e.Summary
	if e.Outcome != history.Accepted && len(e.Reasons) > 0 {
		why = strings.Join(e.Reasons, "; ")
	}
	return []string{
		strconv.Itoa(e.Iteration), e.Time.UTC().Format("2006-01-02 15:04"), string(e.Outcome), number(e.Metric), number(e.Best), plain.Line(why),
	}
}

func writeTSV(env Env, rows [][]string) error {
	out := csv.NewWriter(env.Stdout)
	out.Comma = '\t'
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
func printed(env Env, output, name string, events []history.Event, decided *history.Decided) string {
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
	if dir, err := env.OutputDir(output); err == nil {
		if list := loop.Outputs(app.Transcripts(dir), name, decided.Iteration, decided.Run); len(list) > 0 {
			fmt.Fprintf(&out, "\nall that its evaluations printed:\n  %s\n", strings.Join(list, "\n  "))
		}
	}
	return out.String()
}
