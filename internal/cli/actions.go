package cli

import (
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
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

// writeActions sets the step's outputs, annotates what is wrong and writes the
// summary, where GitHub Actions asks for them.
func writeActions(env Env, plan *schedule.Plan, file string) error {
	matrix, err := json.Marshal(plan.Matrix)
	if err != nil {
		return err
	}
	selected, pull, issue := "", 0, 0
	if plan.Selected != nil {
		selected = *plan.Selected
	}
	if plan.ExistingPR != nil {
		pull = *plan.ExistingPR
	}
	if plan.SelectedIssue != nil {
		issue = *plan.SelectedIssue
	}
	err = setOutputs(env,
		output{"has-work", strconv.FormatBool(plan.HasWork())}, output{"selected", selected}, output{"matrix", string(matrix)},
		output{"pr-number", numberOutput(pull)}, output{"issue-number", numberOutput(issue)}, output{"report", file})
	if err != nil {
		return err
	}
	if err := annotate(env, plan.RepoDir, planAnnotations(plan)...); err != nil {
		return err
	}
	return appendTo(env.Getenv("GITHUB_STEP_SUMMARY"), planSummary(plan))
}

// deliver prints the results of a run, and tells GitHub Actions of them.
func deliver(env Env, o iterateOptions, p *program.Program, results []loop.Result) error {
	return errors.Join(printResults(env, results, o.json), actOn(env, o, p, results))
}

// actOn sets the step's outputs, annotates what is wrong and writes the summary
// of a run, where GitHub Actions asks for them. The program is nil when none was
// chosen.
func actOn(env Env, o iterateOptions, p *program.Program, results []loop.Result) error {
	if results == nil {
		results = []loop.Result{}
	}
	text, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	file, err := writeReport(env, o.Dir, append(text, '\n'))
	if err != nil {
		return err
	}
	if err := setOutputs(env, resultOutputs(results, file)...); err != nil {
		return err
	}
	if err := annotate(env, env.Dir, resultAnnotations(p, results)...); err != nil {
		return err
	}
	return appendTo(env.Getenv("GITHUB_STEP_SUMMARY"), resultSummary(env, results))
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
