package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/render/page"
	"github.com/org/autoloop/internal/suite/taskrun"
)

// validatedSuite is `iterate validate DIR --json` of a task suite.
type validatedSuite struct {
	OK     bool            `json:"ok"`
	Errors []string        `json:"errors"`
	Tasks  []validatedTask `json:"tasks"`
}

type validatedTask struct {
	ID        string  `json:"id"`
	Title     string  `json:"title"`
	File      string  `json:"file"`
	Fixture   string  `json:"fixture"`
	Agent     *string `json:"agent"`
	Checks    int     `json:"checks"`
	Judged    bool    `json:"judged"`
	TimeoutMs int64   `json:"timeoutMs"`
}

func validateTasks(ctx context.Context, env Env, dir string, asJSON bool) error {
	loaded, err := taskrun.Load(ctx, env.Path(dir))
	var wrong *misuse.Error
	if err != nil && !errors.As(err, &wrong) {
		return err
	}
	if wrong == nil {
		wrong = unknownAgents(env, loaded)
	}
	found := validatedSuite{OK: wrong == nil, Errors: []string{}, Tasks: []validatedTask{}}
	if wrong != nil {
		found.Errors = strings.Split(wrong.Error(), "\n")
	} else {
		for _, task := range loaded.Tasks {
			found.Tasks = append(found.Tasks, validatedTask{
				ID: task.ID, Title: task.Title, File: task.File, Fixture: task.Fixture, Agent: text(task.Agent),
				Checks: len(task.Checks), Judged: task.Rubric != nil, TimeoutMs: task.Timeout.Milliseconds(),
			})
		}
	}
	return verdict(printSuite(env, found, asJSON), !found.OK)
}

// unknownAgents lists the tasks that name an agent which is not known; nil when
// all are.
func unknownAgents(env Env, suite *taskrun.TaskSuite) *misuse.Error {
	registry := newRegistry(env, env.NewRunner(), process.NewMasker(env.Environ))
	var faults []error
	for _, task := range suite.Tasks {
		if task.Agent == "" {
			continue
		}
		if _, err := registry.Lookup(taskrun.AgentOf(task.Agent)); err != nil {
			faults = append(faults, fmt.Errorf("%s: agent: %w", task.File, err))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return &misuse.Error{Err: errors.Join(faults...)}
}

func printSuite(env Env, found validatedSuite, asJSON bool) error {
	if asJSON {
		return printEscapedJSON(env, found)
	}
	for _, line := range found.Errors {
		fmt.Fprintln(env.Stdout, "error:", line)
	}
	if !found.OK {
		return nil
	}
	table := render.Table{
		Header: []string{"task", "checks", "judge", "time", "title"},
		Right:  map[int]bool{1: true, 3: true},
	}
	for _, task := range found.Tasks {
		judged := "—"
		if task.Judged {
			judged = "yes"
		}
		seconds := strconv.FormatFloat(float64(task.TimeoutMs)/1000, 'f', -1, 64) + "s"
		table.Rows = append(table.Rows,
			[]string{task.ID, strconv.Itoa(task.Checks), judged, seconds, plain.Short(task.Title, liveWidth)})
	}
	_, err := fmt.Fprintf(env.Stdout, "%s\n%s: ok\n", table, render.Count(len(found.Tasks), "task", "tasks"))
	return err
}

// deliver writes and prints the report; the verdict is the exit code.
func (o *evalOptions) deliver(env Env, found taskrun.Report) error {
	shown := found.Shown()
	if o.out != "" {
		var err error
		if found, err = taskrun.WriteReport(env.Path(o.out), found); err != nil {
			return err
		}
		shown = found.Shown()
		written := page.Comparison{Generated: env.Now(), Comparison: shown}
		if err := writePage(env, filepath.Join(o.out, "report.html"), written.Write); err != nil {
			return err
		}
	}
	if err := env.Actions().AddSummary(shown.Markdown() + "\n"); err != nil {
		return err
	}
	if err := o.print(env, found, shown); err != nil {
		return err
	}
	return verdict(compareOutputs(env, found.Verdict, found, o.out), found.Verdict == decision.Regressed)
}

func (o *evalOptions) print(env Env, found taskrun.Report, shown render.Comparison) error {
	if !o.json {
		return printComparison(env, false, shown)
	}
	for _, warning := range found.Warnings {
		fmt.Fprintln(env.Stderr, "warning:", plain.Short(warning, maxWarning))
	}
	text, err := taskrun.ReportJSON(found)
	if err == nil {
		_, err = env.Stdout.Write(text)
	}
	return err
}

const maxWarning = 400

// taskLine says in a line how far a comparison is.
func taskLine(p taskrun.Progress) string {
	line := fmt.Sprintf("%d/%d runs", p.Done, p.Total)
	if p.Reused > 0 {
		line += fmt.Sprintf(", %d kept from before", p.Reused)
	}
	if p.ToJudge > 0 {
		line += fmt.Sprintf(", %d/%d judged", p.Judged, p.ToJudge)
	}
	line += spentSoFar(p)
	if p.Task == "" {
		return line
	}
	line += fmt.Sprintf(": %s, %s: %d of %d checks passed", plain.Short(p.Task, liveWidth), p.Side, p.Passed, p.Checks)
	if p.Failure != "" {
		line += " (" + plain.Short(p.Failure, liveWidth) + ")"
	}
	return line
}

// spentSoFar says what the runs of this comparison have cost.
func spentSoFar(p taskrun.Progress) string {
	var parts []string
	if p.USD.Sign() > 0 {
		parts = append(parts, fmt.Sprintf("%.4f USD", p.USD.Float64()))
	}
	if p.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", p.Tokens))
	}
	if p.Unknown > 0 && len(parts) > 0 {
		parts = append(parts, fmt.Sprintf("%d runs of unknown cost", p.Unknown))
	}
	if len(parts) == 0 {
		return ""
	}
	return ", " + strings.Join(parts, ", ")
}
