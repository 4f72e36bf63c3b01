package cli

import (
	"github.com/spf13/cobra"
)

func (a *App) newSkillCommand() *cobra.Command {
	var o skillRunOptions
	cmd := &cobra.Command{
		Use:   "skill [PATH]",
		Short: "Improve a skill against its eval suite",
		Long: `A skill is a directory with a SKILL.md; its eval suite is evals/evals.json in it. An agent changes a
copy, the suite measures it, and what is strictly better is the next version in the workspace
PATH-autoresearch. At the end it asks whether the skill is to become the best one; without a terminal
and without --yes it stays as it is. A second run goes on where the first ended.

docs/reference/skill-suites.md has the files, docs/explain/skills.md the rules.`,
		Example: "  iterate skill skills/release-notes --agent claude -n 5",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			p, repeats, err := a.readSkill(cmd, &o)
			if err != nil {
				return err
			}
			return asObject(a, func() (*skillResult, error) {
				return a.runSkill(cmd.Context(), args[0], p, repeats, &o)
			})
		},
	}
	a.skillFlags(cmd, &o)
	cmd.AddCommand(a.newScoreCommand(), a.newSnapshotCommand(), a.newRestoreCommand())
	return cmd
}
