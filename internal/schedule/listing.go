package schedule

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
)

// Status is how a program stands, for people and for `iterate status --json`.
type Status struct {
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

// Status is how a program stands, with the pages on GitHub below the repository's; "" for
// no repository.
func (s *Standing) Status(page string) Status {
	out := Status{
		Name: s.Program.Name, File: s.Program.File, LastRun: s.LastRun, NextDue: s.NextDue,
		Iterations: s.Machine.IterationCount,
		Best:       s.Machine.BestMetric, Target: s.Program.Target, Direction: s.Program.Direction.String(),
		Reason: s.Skip,
		State:  string(s.Condition),
	}
	if s.LastRun != nil {
		seconds := int64(s.Lateness.Seconds())
		out.LatenessSeconds = &seconds
	}
	if s.Machine.PR > 0 {
		out.PR = &s.Machine.PR
		out.PRURL = linked(page, "/pull/", s.Machine.PR)
	}
	if issue := max(s.Machine.Issue, s.Program.Issue); issue > 0 {
		out.Issue = &issue
		out.IssueURL = linked(page, "/issues/", issue)
	}
	switch s.Condition { //nolint:exhaustive // the others are words already
	case InError:
		out.Reason = s.Problems[0].String()
	case Unconfigured:
		out.Reason = "replace the placeholders in " + s.Program.File
	case NotDue:
		out.State = "waiting"
	case Due:
		if s.LastRun == nil {
			out.Reason = "it never ran"
		}
	}
	return out
}

func linked(page, kind string, number int) string {
	if page == "" {
		return ""
	}
	return page + kind + strconv.Itoa(number)
}

// StatusTable has every reason whole, with the address of the program's page on
// GitHub when that is known.
func StatusTable(list []Status, now time.Time) render.Table {
	table := render.Table{
		Header: []string{"program", "state", "runs", "last run", "next due", "late", "best", "target", "reason"},
		Align:  "llrllrrr",
	}
	for _, s := range list {
		late := "—"
		if s.LatenessSeconds != nil && *s.LatenessSeconds > 0 {
			late = render.Minutes(float64(*s.LatenessSeconds) / 60)
		}
		table.Rows = append(table.Rows, []string{
			s.Name, s.State, fmt.Sprint(s.Iterations), when(s.LastRun, now), when(s.NextDue, now), late,
			render.Figure(s.Best, s.Target), render.Target(s.Target, s.Best, s.Direction),
			plain.Line(strings.TrimSpace(s.Reason + " " + cmp.Or(s.PRURL, s.IssueURL))),
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
