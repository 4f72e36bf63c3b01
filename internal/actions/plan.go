package actions

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/schedule"
)

// ReportPlan sets the step's outputs, annotates what is wrong and adds the
// summary of a plan that was written to file.
func (s Step) ReportPlan(plan *schedule.Plan, file string) error {
	matrix, err := json.Marshal(plan.Matrix)
	if err != nil {
		return err
	}
	outputs := []Output{
		{"has-work", strconv.FormatBool(plan.Selected != nil)},
		{"selected", valueOf(plan.Selected)},
		{"matrix", string(matrix)},
		{"pr-number", number(valueOf(plan.ExistingPR))},
		{"issue-number", number(valueOf(plan.SelectedIssue))},
		{"report", file},
	}
	summary := ""
	if s.Getenv("GITHUB_STEP_SUMMARY") != "" {
		summary = planSummary(plan)
	}
	var list []annotation
	for _, f := range plan.Errors {
		list = append(list, annotation{"Autoloop: " + f.Name, f.Problem})
	}
	for _, text := range plan.Warnings {
		list = append(list, warning("Autoloop", text))
	}
	return s.report(outputs, plan.RepoDir, list, summary)
}

const (
	// maxPlanRows and maxPlanWarnings bound the summary of a plan for thousands of
	// programs: autoloop.json has all of them.
	maxPlanRows     = 200
	maxPlanWarnings = 50
)

// planSummary is a plan for people, as the summary of a job. What somebody has
// to do something about comes first.
func planSummary(plan *schedule.Plan) string {
	headline := plan.Headline()
	text := render.MD("## Autoloop\n\n%s.\n", strings.ToUpper(headline[:1])+headline[1:])
	if selected := lines("**%s**", plan.Matrix.Program); len(selected) > 0 {
		text = render.MD("## Autoloop\n\nSelected %s: %s.\n", selected[0], plan.Reason)
		if with := selected[1:]; len(with) > 0 {
			text += "\nWith it: " + render.Joined(", ", with...) + ".\n"
		}
	}
	var rows [][]any
	for _, f := range plan.Errors {
		rows = append(rows, []any{f.Name, "error: " + f.String()})
	}
	for _, u := range plan.Untrusted {
		rows = append(rows, []any{u.Name, "untrusted: " + u.Reason})
	}
	for _, name := range plan.Unconfigured {
		rows = append(rows, []any{name, "not configured yet"})
	}
	for _, name := range plan.Deferred {
		rows = append(rows, []any{name, "due, deferred"})
	}
	for _, s := range plan.Skipped {
		rows = append(rows, []any{s.Name, s.Reason})
	}
	text += table("why not now", rows)
	warnings := lines("\n> ⚠️ %s\n", plan.Warnings[:min(len(plan.Warnings), maxPlanWarnings)])
	return string(text+render.Joined("", warnings...)) + "\n"
}

// table lists programs with a reason, at most so many; "" for none.
func table(why string, rows [][]any) render.Markup {
	if len(rows) == 0 {
		return ""
	}
	text := "\n" + render.Grid("", []any{"program", why}, rows[:min(len(rows), maxPlanRows)]...)
	if more := len(rows) - maxPlanRows; more > 0 {
		text += render.MD("\n%d more are in the report.\n", more)
	}
	return text
}

// ReportReservations sets the outputs for the programs that begin, annotates those
// that could not, and adds a summary when one does not begin.
func (s Step) ReportReservations(made []loop.Reservation) error {
	matrix := schedule.Matrix{Program: []string{}}
	var list []annotation
	for _, one := range made {
		switch {
		case one.Begun:
			matrix.Program = append(matrix.Program, one.Program)
		case one.Failed:
			list = append(list, failure("Autoloop: "+one.Program, one.Reason))
		}
		for _, text := range one.Warnings {
			list = append(list, warning("Autoloop: "+one.Program, text))
		}
	}
	text, err := json.Marshal(matrix)
	if err != nil {
		return err
	}
	outputs := []Output{{"has-work", strconv.FormatBool(len(matrix.Program) > 0)}, {"matrix", string(text)}}
	return s.report(outputs, s.Dir, list, reservationsSummary(made))
}

// reservationsSummary is which programs do not begin although they were selected, as the
// summary of a job; "" when all do.
func reservationsSummary(made []loop.Reservation) string {
	var rows [][]any
	for _, one := range made {
		if !one.Begun {
			rows = append(rows, []any{one.Program, one.Reason})
		}
	}
	return string(table("why it does not begin", rows))
}
