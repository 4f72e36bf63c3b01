package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/evalrun"
	"github.com/org/autoloop/internal/skill/evals"
)

func newSkillDoctorCommand(env Env) *cobra.Command {
	var (
		history string
		asJSON  bool
		drafted skillDraft
	)
	cmd := &cobra.Command{
		Use:   "doctor PATH",
		Short: "Find what keeps a skill's suite from telling good from bad",
		Long: "Examine the eval suite of the skill at PATH, without a model: cases without a check, checks that always pass,\n" +
			"prompts that contain their answer, duplicates; and with --history what came out the same in every run. The exit\n" +
			"code is 1 when anything is found. With --agent (or --agent-command) an agent then drafts or repairs evals.json and\n" +
			"trigger-eval.json in a copy; each goes into a new file, and the exit code says whether anything is found in them.\n" +
			"The skill is never edited.",
		Example: "  iterate skill doctor skills/release-notes\n  iterate skill doctor skills/release-notes --history kept\n" +
			"  iterate skill doctor skills/release-notes --agent claude --draft draft.json",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if drafted.agent != "" || drafted.command != "" {
				return draftSuite(cmd.Context(), env, args[0], history, drafted, asJSON)
			}
			return examineSkill(cmd.Context(), env, args[0], history, asJSON)
		},
	}
	cmd.Flags().StringVar(&history, "history", "", "a `directory` with gradings of earlier runs, at any depth")
	drafted.register(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

// examined is a suite with what was found in it, and how many gradings were read.
func examined(ctx context.Context, env Env, dir, history string) (name string, gradings int, findings []evals.Finding, err error) {
	suited, err := evalrun.Load(env.Path(dir), ".", "")
	if err != nil {
		return "", 0, nil, err
	}
	var past []evals.PastCase
	if history != "" {
		if past, err = evalrun.History(ctx, env.Path(history)); err != nil {
			return "", 0, nil, err
		}
	}
	return suited.Name, len(past), evals.Examine(suited.Evals, suited.Triggers, past), nil
}

// draftSuite examines a suite and, when anything is found or it cannot be used
// at all, has it drafted or repaired.
func draftSuite(ctx context.Context, env Env, dir, history string, o skillDraft, asJSON bool) error {
	name, _, findings, err := examined(ctx, env, dir, history)
	var fault *misuse.Error
	var found []string
	switch {
	case errors.As(err, &fault):
		name, found = filepath.Base(env.Path(dir)), strings.Split(fault.Error(), "\n")
	case err != nil:
		return err
	}
	for _, finding := range findings {
		found = append(found, findingLine(finding))
	}
	drafts := []skill.Draft{}
	var left []evals.Finding
	if len(found) > 0 {
		if drafts, left, err = o.draft(ctx, env, dir, found); err != nil {
			return err
		}
	}
	if asJSON {
		err = printJSON(env, struct {
			Name   string          `json:"name"`
			Found  []string        `json:"found"`
			Drafts []skill.Draft   `json:"drafts"` // none when there was no need of one
			Left   []evals.Finding `json:"findings"`
		}{name, append([]string{}, found...), drafts, append([]evals.Finding{}, left...)})
	} else {
		err = printDraft(env, name, found, drafts, left)
	}
	return verdict(err, len(left) > 0)
}

func printDraft(env Env, name string, found []string, drafts []skill.Draft, left []evals.Finding) error {
	for _, line := range found {
		fmt.Fprintln(env.Stdout, line)
	}
	if len(drafts) == 0 {
		return printFindings(env, name, nil)
	}
	fmt.Fprintln(env.Stdout)
	for _, d := range drafts {
		fmt.Fprintf(env.Stdout, "the draft is %s; look at it, then put it in the place of %s\n", d.File, d.Name)
	}
	return printFindings(env, "the draft", left)
}

func examineSkill(ctx context.Context, env Env, dir, history string, asJSON bool) error {
	name, gradings, findings, err := examined(ctx, env, dir, history)
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(env, struct {
			Name     string          `json:"name"`
			Runs     int             `json:"gradings"`
			Findings []evals.Finding `json:"findings"`
		}{name, gradings, append([]evals.Finding{}, findings...)})
	} else {
		err = printFindings(env, name, findings)
	}
	return verdict(err, len(findings) > 0)
}

func findingLine(f evals.Finding) string {
	where := "suite"
	if f.Case != "" {
		where = "case " + f.Case
	}
	return fmt.Sprintf("%s: %s: %s", where, f.Kind, f.Message)
}

func printFindings(env Env, name string, findings []evals.Finding) error {
	for _, finding := range findings {
		fmt.Fprintln(env.Stdout, findingLine(finding))
	}
	if len(findings) > 0 {
		return nil
	}
	_, err := fmt.Fprintf(env.Stdout, "%s: nothing found\n", name)
	return err
}
