package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/skill"
)

// skillApplyOptions are the flags of `iterate skill apply` and `undo`.
type skillApplyOptions struct {
	skill.Change

	dir  string // of the skill
	json bool
}

func newSkillApplyCommand(env Env) *cobra.Command {
	var o skillApplyOptions
	cmd := &cobra.Command{
		Use:   "apply WORKSPACE",
		Short: "Make the skill equal to its best version, after showing what changes",
		Long: "Show the report and the diff, ask, and make the skill exactly the version's snapshot; `.git` is not\n" +
			"touched, and the workspace is kept whatever the answer. When the skill changed since v0 nothing is\n" +
			"applied, unless --merge can join both without a conflict. Without a terminal to ask on, nothing is\n" +
			"applied unless --yes is given. --json prints skill, workspace, `to` (a version or snapshot), whether files\n" +
			"changed, whether the skill is that now (done), and the snapshot that was kept of what it was.",
		Example: "  iterate skill apply skills/release-notes-autoresearch\n" +
			"  iterate skill apply skills/release-notes-autoresearch --version 2 --yes",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeSkill(cmd.Context(), env, args[0], o, (*skill.Versions).Apply)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.Version, "version", skill.BestVersion, "the version to apply (default: the best)")
	flags.BoolVarP(&o.Yes, "yes", "y", false, "apply without asking")
	flags.BoolVar(&o.Merge, "merge", false, "join the version with what was changed in the skill since v0")
	flags.StringVar(&o.dir, "skill", "", "the skill's directory (default: as the workspace says)")
	objectFlag(flags, &o.json)
	return cmd
}

func newSkillUndoCommand(env Env) *cobra.Command {
	var o skillApplyOptions
	cmd := &cobra.Command{
		Use:   "undo WORKSPACE",
		Short: "Make the skill what it was before anything was applied",
		Long: "Ask, and make the skill what it was before a version was applied. When it has changes that are in no version of the workspace,\n" +
			"nothing is undone unless --force is given; they are then kept in the workspace as before-undo-1, before-undo-2, …\n" +
			"After `apply --merge` it puts back what the skill was before that. What changes is shown before it asks.",
		Example: "  iterate skill undo skills/release-notes-autoresearch",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeSkill(cmd.Context(), env, args[0], o, (*skill.Versions).Undo)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&o.Yes, "yes", "y", false, "undo without asking")
	flags.BoolVar(&o.Force, "force", false, "undo also what was changed by hand")
	flags.StringVar(&o.dir, "skill", "", "the skill's directory (default: as the workspace says)")
	objectFlag(flags, &o.json)
	return cmd
}

// changeSkill opens a workspace, and does something to its skill.
func changeSkill(ctx context.Context, env Env, dir string, o skillApplyOptions, do func(*skill.Versions, context.Context, skill.Change) (*skill.Changed, error)) error {
	return asObject(env, o.json, func(env Env) (*skill.Changed, error) {
		versions, err := openVersions(ctx, env, dir)
		if err != nil {
			return nil, err
		}
		if o.dir != "" {
			versions.Workspace.Skill = env.Path(o.dir)
		}
		return do(versions, ctx, o.Change)
	})
}
