package actions

import (
	"encoding/json"
	"fmt"
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
		{"has-work", strconv.FormatBool(plan.HasWork())},
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
	return s.report(outputs, plan.RepoDir, planAnnotations(plan), summary)
}

// planAnnotations are the programs in error, and the warnings.
func planAnnotations(plan *schedule.Plan) []annotation {
	var list []annotation
	for _, f := range plan.Errors {
		list = append(list, annotation{
			level: errorLevel, file: f.File, line: f.Line, title: "Autoloop: " + f.Name,
			message: f.Message,
		})
	}
	for _, text := range plan.Warnings {
		list = append(list, warning("Autoloop", text))
	}
	return list
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
	var out strings.Builder
	out.WriteString("## Autoloop\n\n")
	if plan.Selected != nil {
		fmt.Fprintf(&out, "Selected **%s**: %s.\n", *plan.Selected, inline(plan.Reason))
		if others := besides(plan.Matrix.Program, *plan.Selected); others != "" {
			fmt.Fprintf(&out, "\nWith it: %s.\n", others)
		}
	} else {
		headline := inline(plan.Headline())
		fmt.Fprintf(&out, "%s.\n", strings.ToUpper(headline[:1])+headline[1:])
	}
	table := render.Table{Header: []string{"program", "why not now"}}
	add := func(name, why string) {
		if len(table.Rows) < maxPlanRows {
			table.Rows = append(table.Rows, []string{inline(name), inline(why)})
		}
	}
	for _, f := range plan.Errors {
		add(f.Name, "error: "+f.Place())
	}
	for _, u := range plan.Untrusted {
		add(u.Name, "untrusted: "+u.Reason)
	}
	for _, name := range plan.Unconfigured {
		add(name, "not configured yet")
	}
	for _, name := range plan.Deferred {
		add(name, "due, deferred")
	}
	for _, s := range plan.Skipped {
		add(s.Name, s.Reason)
	}
	if len(table.Rows) > 0 {
		out.WriteString("\n" + table.Markdown())
	}
	all := len(plan.Errors) + len(plan.Untrusted) + len(plan.Unconfigured) + len(plan.Deferred) + len(plan.Skipped)
	if more := all - len(table.Rows); more > 0 {
		fmt.Fprintf(&out, "\n%d more are in the report.\n", more)
	}
	for _, warning := range plan.Warnings[:min(len(plan.Warnings), maxPlanWarnings)] {
		fmt.Fprintf(&out, "\n> ⚠️ %s\n", inline(warning))
	}
	return out.String() + "\n"
}

// besides lists the programs of the matrix but for one.
func besides(matrix []string, selected string) string {
	var others []string
	for _, name := range matrix {
		if name != selected {
			others = append(others, "**"+inline(name)+"**")
		}
	}
	return strings.Join(others, ", ")
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
			list = append(list, annotation{level: errorLevel, title: "Autoloop: " + one.Program, message: one.Reason})
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
	table := render.Table{Header: []string{"program", "why it does not begin"}}
	for _, one := range made {
		if !one.Begun && len(table.Rows) < maxPlanRows {
			table.Rows = append(table.Rows, []string{inline(one.Program), inline(one.Reason)})
		}
	}
	if len(table.Rows) == 0 {
		return ""
	}
	return table.Markdown() + "\n"
}
