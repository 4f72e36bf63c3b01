package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/schedule"
)

func newStatusCommand(env Env, o *schedulerOptions) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show how every program stands",
		Long:    "Show every program with its state: last run, next due, lateness, best metric and target, and why it does not run.",
		Example: "  scheduler status\n  scheduler status --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return status(cmd.Context(), env, *o, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// programStatus is one program in `scheduler status --json`.
type programStatus struct {
	Name            string        `json:"name"`
	File            string        `json:"file"`
	State           string        `json:"state"`
	Reason          string        `json:"reason"`
	LastRun         *time.Time    `json:"last_run"`
	NextDue         *time.Time    `json:"next_due"`
	LatenessSeconds *int64        `json:"lateness_seconds"`
	Iterations      int           `json:"iterations"`
	Best            *metric.Value `json:"best_metric"`
	Target          *metric.Value `json:"target_metric"`
	Direction       string        `json:"metric_direction"`
	PR              *int          `json:"pr"`
	Issue           *int          `json:"issue"`
	PRURL           string        `json:"pr_url,omitempty"`
	IssueURL        string        `json:"issue_url,omitempty"`
}

func status(ctx context.Context, env Env, o schedulerOptions, asJSON bool) error {
	env.BoundMemory(app.Tables)
	o.max, o.program = 1, ""
	hub, err := o.Client(env)
	if err != nil {
		return err
	}
	in, err := o.input(ctx, env, hub)
	if err != nil {
		return err
	}
	in.All = true
	plan, err := schedule.Choose(in)
	if err != nil {
		return err
	}
	list := []programStatus{}
	for _, s := range plan.Standings {
		list = append(list, statusOf(s).linked(env, o.Repository(env)))
	}
	if asJSON {
		encoder := json.NewEncoder(env.Stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(list)
	}
	for _, warning := range plan.Warnings {
		fmt.Fprintln(env.Stderr, "warning:", warning)
	}
	if len(list) > 0 {
		warnUncommitted(env, o.uncommitted(ctx, env).String())
	}
	if len(list) == 0 {
		fmt.Fprintln(env.Stdout, "no programs: make one with `scheduler new NAME`")
		return nil
	}
	fmt.Fprint(env.Stdout, statusTable(list, plan.GeneratedAt).Fit(env.TableWidth()).String())
	fmt.Fprintf(env.Stdout, "a program is due from %d minutes before its time\n", int(schedule.Grace.Minutes()))
	return nil
}

func statusOf(s *schedule.Standing) programStatus {
	out := programStatus{
		Name: s.Program.Name, File: s.Program.File, LastRun: s.LastRun, NextDue: s.NextDue, Iterations: s.Machine.IterationCount,
		Best: s.Machine.BestMetric, Target: s.Program.Target, Direction: s.Program.Direction.String(), Reason: s.Skip,
		State: string(s.Condition),
	}
	if s.LastRun != nil {
		seconds := int64(s.Lateness.Seconds())
		out.LatenessSeconds = &seconds
	}
	if s.Machine.PR > 0 {
		out.PR = &s.Machine.PR
	}
	if issue := max(s.Machine.Issue, s.Program.Issue); issue > 0 {
		out.Issue = &issue
	}
	switch s.Condition { //nolint:exhaustive // the others are words already
	case schedule.InError:
		out.Reason = s.Problems[0].String()
	case schedule.Unconfigured:
		out.Reason = "replace the placeholders in " + s.Program.File
	case schedule.NotDue:
		out.State = "waiting"
	case schedule.Due:
		if s.LastRun == nil {
			out.Reason = "it never ran"
		}
	}
	return out
}

// linked adds the pages on GitHub, when the repository is known.
func (s programStatus) linked(env Env, repository string) programStatus {
	if repository == "" {
		return s
	}
	page := strings.TrimRight(env.Server(), "/") + "/" + repository
	if s.PR != nil {
		s.PRURL = fmt.Sprintf("%s/pull/%d", page, *s.PR)
	}
	if s.Issue != nil {
		s.IssueURL = fmt.Sprintf("%s/issues/%d", page, *s.Issue)
	}
	return s
}

// link is the address that people follow: the pull request, else the issue.
func (s programStatus) link() string {
	if s.PRURL != "" {
		return s.PRURL
	}
	return s.IssueURL
}

// statusTable has every reason whole, with the address of the program's page on
// GitHub when that is known.
func statusTable(list []programStatus, now time.Time) render.Table {
	table := render.Table{
		Header: []string{"program", "state", "runs", "last run", "next due", "late", "best", "target", "reason"},
		Right:  map[int]bool{2: true, 5: true, 6: true, 7: true},
	}
	for _, s := range list {
		late := "—"
		if s.LatenessSeconds != nil && *s.LatenessSeconds > 0 {
			late = schedule.Round(time.Duration(*s.LatenessSeconds) * time.Second)
		}
		target := number(s.Target)
		if s.Target != nil && s.Direction == "lower" {
			target = "≤ " + target
		} else if s.Target != nil {
			target = "≥ " + target
		}
		table.Rows = append(table.Rows, []string{
			s.Name, s.State, fmt.Sprint(s.Iterations), when(s.LastRun, now), when(s.NextDue, now), late, number(s.Best), target,
			plain.Line(strings.TrimSpace(s.Reason + " " + s.link())),
		})
	}
	return table
}

func when(t *time.Time, now time.Time) string {
	if t == nil {
		return "—"
	}
	if t.Year() == now.Year() {
		return t.UTC().Format("01-02 15:04")
	}
	return t.UTC().Format("2006-01-02 15:04")
}
