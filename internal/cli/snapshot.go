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

func (a *App) newSnapshotCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshot SRC DST",
		Short: "Keep the state of a directory as a read-only snapshot",
		Long: `Copy SRC to the snapshot DST, with modes and links, and write DST.manifest.json beside it: path, mode,
SHA-256 and link target of everything. .git is left out. A link that leads out of SRC is refused.
A snapshot that is at DST is replaced in one step, and left alone when nothing changed.`,
		Example: "  iterate skill snapshot skills/release-notes /tmp/before",
		Args:    cobra.ExactArgs(2),
		RunE:    run(a.takeSnapshot),
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *App) takeSnapshot(ctx context.Context, args []string) error {
	taken, err := workspace.Take(ctx, a.Path(args[0]), a.Path(args[1]))
	if err != nil {
		return err
	}
	became := "unchanged"
	if taken.Changed {
		became = fmt.Sprintf("%d of them written", taken.Written)
	}
	return a.print(taken,
		fmt.Sprintf("%s: %d files, %d bytes, %s, sha256 %s\n", args[1], taken.Files, taken.Bytes, became, taken.Digest))
}

func (a *App) newRestoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore SNAPSHOT DIR",
		Short: "Make a directory equal to a snapshot",
		Long: `Make DIR exactly what SNAPSHOT is: content, modes and links, and nothing besides. .git is not
touched. A snapshot that is missing, cut off or altered is an error, and nothing is changed.`,
		Example: "  iterate skill restore /tmp/before skills/release-notes",
		Args:    cobra.ExactArgs(2),
		RunE:    run(a.restoreSnapshot),
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *App) restoreSnapshot(ctx context.Context, args []string) error {
	from, dir := args[0], args[1]
	if above := filepath.Dir(a.Path(from)); workspace.Foreign(above) {
		if _, err := skill.Open(ctx, above, a.Stderr); err != nil {
			return err
		}
	}
	restored, err := workspace.Restore(ctx, a.Path(from), a.Path(dir))
	if err != nil {
		return err
	}
	became := "it was so already"
	if restored.Changed {
		became = render.Count(restored.Written, "file", "files") + " written, " + render.Count(restored.Removed,
			"entry", "entries") + " removed"
	}
	return a.print(restored, fmt.Sprintf("%s is as %s: %s\n", dir, from, became))
}
