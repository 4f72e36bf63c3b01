package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/org/autoloop/internal/scheduler"
)

// dispatched is the program that was asked for from outside: AUTOLOOP_PROGRAM,
// else the input "program" of a workflow that a person started.
func dispatched(env Env) string {
	if name := strings.TrimSpace(env.Getenv("AUTOLOOP_PROGRAM")); name != "" {
		return name
	}
	if env.Getenv("GITHUB_EVENT_NAME") != "workflow_dispatch" {
		return ""
	}
	data, err := os.ReadFile(env.Getenv("GITHUB_EVENT_PATH"))
	if err != nil {
		return ""
	}
	var event struct {
		Inputs struct {
			Program string `json:"program"`
		} `json:"inputs"`
	}
	if json.Unmarshal(data, &event) != nil {
		return ""
	}
	return strings.TrimSpace(event.Inputs.Program)
}

// writeActions sets the step's outputs and writes its summary, where GitHub
// Actions asks for them.
func writeActions(env Env, plan *scheduler.Plan) error {
	matrix, err := json.Marshal(plan.Matrix)
	if err != nil {
		return err
	}
	selected := ""
	if plan.Selected != nil {
		selected = *plan.Selected
	}
	outputs := fmt.Sprintf("has-work=%v\nselected=%s\nmatrix=%s\n", plan.HasWork(), selected, matrix)
	if err := appendTo(env.Getenv("GITHUB_OUTPUT"), outputs); err != nil {
		return err
	}
	return appendTo(env.Getenv("GITHUB_STEP_SUMMARY"), planSummary(plan))
}

func appendTo(file, text string) error {
	if file == "" {
		return nil
	}
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := out.WriteString(text); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}

func planSummary(plan *scheduler.Plan) string {
	var out strings.Builder
	out.WriteString("## Autoloop\n\n")
	if plan.Selected != nil {
		fmt.Fprintf(&out, "Selected **%s**: %s.\n", *plan.Selected, cellText(plan.Reason))
	} else {
		fmt.Fprintf(&out, "%s.\n", cellText(headline(plan)))
	}
	rows := [][2]string{}
	for _, name := range plan.Deferred {
		rows = append(rows, [2]string{name, "due, deferred"})
	}
	for _, s := range plan.Skipped {
		rows = append(rows, [2]string{s.Name, s.Reason})
	}
	for _, name := range plan.Unconfigured {
		rows = append(rows, [2]string{name, "not configured yet"})
	}
	for _, f := range plan.Errors {
		rows = append(rows, [2]string{f.Name, "error: " + place(f)})
	}
	if len(rows) > 0 {
		out.WriteString("\n| program | why not now |\n|---|---|\n")
		for _, row := range rows {
			fmt.Fprintf(&out, "| %s | %s |\n", cellText(row[0]), cellText(row[1]))
		}
	}
	for _, warning := range plan.Warnings {
		fmt.Fprintf(&out, "\n> ⚠️ %s\n", cellText(warning))
	}
	return out.String() + "\n"
}

// cellText makes a text harmless in a cell of a markdown table.
func cellText(text string) string {
	text = strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "'", "@", "@\u200b", "[", `\[`).Replace(text)
	return strings.Join(strings.Fields(text), " ")
}
