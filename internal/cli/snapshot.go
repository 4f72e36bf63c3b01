package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/workspace"
)

func newSnapshotCommand(env Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "snapshot SRC DST",
		Short: "Keep the state of a directory as a read-only snapshot",
		Long: `Copy SRC to the snapshot DST, with modes and links, and write DST.manifest.json beside it: path, mode,
SHA-256 and link target of everything. .git is left out. A link that leads out of SRC is refused.
A snapshot that is at DST is replaced in one step, and left alone when nothing changed.`,
		Example: "  iterate skill snapshot skills/release-notes /tmp/before",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return takeSnapshot(cmd.Context(), env, args[0], args[1], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

func takeSnapshot(ctx context.Context, env Env, src, dst string, asJSON bool) error {
	taken, err := workspace.Take(ctx, env.Path(src), env.Path(dst))
	if err != nil {
		return err
	}
	became := "unchanged"
	if taken.Changed {
		became = fmt.Sprintf("%d of them written", taken.Written)
	}
	return printEither(env, asJSON, taken,
		fmt.Sprintf("%s: %d files, %d bytes, %s, sha256 %s\n", dst, taken.Files, taken.Bytes, became, taken.Digest))
}

func newRestoreCommand(env Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "restore SNAPSHOT DIR",
		Short: "Make a directory equal to a snapshot",
		Long: `Make DIR exactly what SNAPSHOT is: content, modes and links, and nothing besides. .git is not
touched. A snapshot that is missing, cut off or altered is an error, and nothing is changed.`,
		Example: "  iterate skill restore /tmp/before skills/release-notes",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return restoreSnapshot(cmd.Context(), env, args[0], args[1], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

func restoreSnapshot(ctx context.Context, env Env, from, dir string, asJSON bool) error {
	if above := filepath.Dir(env.Path(from)); workspace.Foreign(above) {
		if _, err := skill.Open(ctx, above, env.Stderr); err != nil {
			return err
		}
	}
	restored, err := workspace.Restore(ctx, env.Path(from), env.Path(dir))
	if err != nil {
		return err
	}
	became := "it was so already"
	if restored.Changed {
		became = render.Count(restored.Written, "file", "files") + " written, " + render.Count(restored.Removed,
			"entry", "entries") + " removed"
	}
	return printEither(env, asJSON, restored, fmt.Sprintf("%s is as %s: %s\n", dir, from, became))
}
