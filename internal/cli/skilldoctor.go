package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/evals"
	"github.com/org/autoloop/internal/suite"
)

func newSkillDoctorCommand(env Env) *cobra.Command {
	var (
		history string
		asJSON  bool
	)
	cmd := &cobra.Command{
		Use:   "doctor PATH",
		Short: "Find what keeps a skill's suite from telling good from bad",
		Long: "Examine the eval suite of the skill at PATH, without a model: cases without a check, checks that always pass,\n" +
			"prompts that contain their answer, duplicates; and with --history what came out the same in every run. Nothing is\n" +
			"run or changed. The exit code is 1 when anything is found.",
		Example: "  iterate skill doctor skills/release-notes\n  iterate skill doctor skills/release-notes --history kept",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return examineSkill(cmd.Context(), env, args[0], history, asJSON)
		},
	}
	cmd.Flags().StringVar(&history, "history", "", "a `directory` with gradings of earlier runs, at any depth")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

func examineSkill(ctx context.Context, env Env, dir, history string, asJSON bool) error {
	skill, err := evals.Load(env.path(dir), ".", "")
	if err != nil {
		return misfit(err)
	}
	var past []suite.PastCase
	if history != "" {
		if past, err = evals.History(ctx, env.path(history)); err != nil {
			return err
		}
	}
	findings := suite.Examine(skill.Evals, skill.Triggers, past)
	if asJSON {
		encoder := json.NewEncoder(env.Stdout)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		err = encoder.Encode(struct {
			Name     string          `json:"name"`
			Runs     int             `json:"gradings"`
			Findings []suite.Finding `json:"findings"`
		}{skill.Name, len(past), append([]suite.Finding{}, findings...)})
	} else {
		err = printFindings(env, skill.Name, findings)
	}
	if err == nil && len(findings) > 0 {
		err = &ExitError{Code: ExitFailed}
	}
	return err
}

func printFindings(env Env, name string, findings []suite.Finding) error {
	for _, finding := range findings {
		where := "suite"
		if finding.Case != "" {
			where = "case " + finding.Case
		}
		fmt.Fprintf(env.Stdout, "%s: %s: %s\n", where, finding.Kind, finding.Message)
	}
	if len(findings) > 0 {
		return nil
	}
	_, err := fmt.Fprintf(env.Stdout, "%s: nothing found\n", name)
	return err
}
