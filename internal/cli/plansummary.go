package cli

import (
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/schedule"
)

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
		fmt.Fprintf(&out, "Selected **%s**: %s.\n", *plan.Selected, render.Inline(plan.Reason, maxSummaryText))
	} else {
		fmt.Fprintf(&out, "%s.\n", render.Inline(headline(plan), maxSummaryText))
	}
	table := render.Table{Header: []string{"program", "why not now"}}
	add := func(name, why string) {
		if len(table.Rows) < maxPlanRows {
			table.Rows = append(table.Rows, []string{render.Inline(name, maxSummaryText), render.Inline(why, maxSummaryText)})
		}
	}
	for _, f := range plan.Errors {
		add(f.Name, "error: "+place(f))
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
		fmt.Fprintf(&out, "\n> ⚠️ %s\n", render.Inline(warning, maxSummaryText))
	}
	return out.String() + "\n"
}
