package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/workspace"
)

func newSkillReportCommand(env Env) *cobra.Command {
	var asJSON, diff bool
	var html string
	cmd := &cobra.Command{
		Use:   "report WORKSPACE",
		Short: "Say how the improvement of a skill went, and what to do with it",
		Long: "Print the trajectory, its class, what changed from v0 to the best version, what still fails, and a\n" +
			"recommendation, as markdown. docs/howto/apply-and-undo.md says how to read it.",
		Example: "  iterate skill report skills/release-notes-autoresearch\n" +
			"  iterate skill report skills/release-notes-autoresearch --diff | git apply --directory=skills/release-notes",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			versions, err := openVersions(cmd.Context(), env, args[0])
			if err != nil {
				return err
			}
			r, patch, err := versions.Report(cmd.Context(), skill.BestVersion)
			switch {
			case err != nil:
				return err
			case html != "":
				page, err := versions.Page(cmd.Context(), r)
				if err != nil {
					return err
				}
				page.Generated = env.Now()
				return writePage(env, html, page.Write)
			case diff:
				_, err = env.Stdout.Write(patch)
				return err
			case asJSON:
				return printJSON(env, r)
			}
			return versions.Show(r)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	cmd.Flags().BoolVar(&diff, "diff", false, "print the patch from v0 to the best version alone")
	cmd.Flags().StringVar(&html, "html", "", "write a page to look at into this file: cases and versions, evidence, the change")
	cmd.MarkFlagsMutuallyExclusive("json", "diff", "html")
	return cmd
}

// openVersions reads the versions of a workspace, or of a skill's.
func openVersions(ctx context.Context, env Env, dir string) (*skill.Versions, error) {
	w, err := skill.Open(ctx, env.Path(dir), env.Stderr)
	if err != nil {
		return nil, err
	}
	return versionsOf(env, w), nil
}

func versionsOf(env Env, w *workspace.Workspace) *skill.Versions {
	return &skill.Versions{
		Workspace: w, TempDir: env.TempDir(), Environ: env.Environ, Out: env.Stdout, Err: env.Stderr, Terminal: env.Terminal,
		Ask: func(ctx context.Context, question string) (bool, error) { return ask(ctx, env, question) },
	}
}
