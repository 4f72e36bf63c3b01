package skill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill/workspace"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
)

// lineWidth bounds what is said of a name or of a problem on a line.
const lineWidth = 100

// Versions are those of a skill in its workspace, with what is needed to compare
// them, and to show and ask what is done with them.
type Versions struct {
	Workspace *workspace.Workspace
	// TempDir is where throw-away repositories are made, with the environment of git.
	TempDir string
	Environ []string
	// Out is for what is said, Err for warnings. Terminal says that Out is one.
	Out, Err io.Writer
	Terminal bool
	// Ask asks a person; the error is the end of the context.
	Ask func(ctx context.Context, question string) (bool, error)
}

// Open reads a workspace, or that of a skill; one that another program made is
// adopted, which is said on warnings.
func Open(ctx context.Context, dir string, warnings io.Writer) (*workspace.Workspace, error) {
	dir = workspace.Of(dir)
	if !workspace.Foreign(dir) {
		return workspace.OpenWorkspace(dir)
	}
	fmt.Fprintf(warnings, "%s was made by another program: writing manifests of what its versions have now beside them\n", dir)
	return workspace.Adopt(ctx, dir)
}

// Show prints a report as markdown, on a terminal as plain text.
func (v *Versions) Show(r render.SkillReport) error {
	text := r.Markdown()
	if v.Terminal {
		text = r.Text()
	}
	_, err := io.WriteString(v.Out, text)
	return err
}

// Suite reads the suite that a workspace is scored by: v0's, which must
// be as it was taken. A v0 that a script made without a manifest is warned of.
func (v *Versions) Suite(ctx context.Context) (*evalrun.Skill, error) {
	w := v.Workspace
	original := w.Version(0)
	if _, err := os.Lstat(workspace.ManifestFile(original)); errors.Is(err, fs.ErrNotExist) && w.SuiteHash == "" {
		fmt.Fprintf(v.Err, "warning: %s has no manifest, so nothing says that its suite is the one it began with\n",
			original)
		return suiteOf(original)
	}
	suiteFiles, err := workspace.VerifyBelow(ctx, original, evals.Dir)
	if err != nil {
		return nil, err
	}
	if w.SuiteHash != "" && suiteFiles.Digest() != w.SuiteHash {
		return nil, fmt.Errorf("the suite in %s is not that of manifest.json: its cases changed; begin a new "+
			"workspace with --fresh", original)
	}
	return suiteOf(original)
}

// suiteOf reads the suite of a workspace's v0. Nobody corrects that one.
func suiteOf(original string) (*evalrun.Skill, error) {
	found, err := evalrun.Load(original, ".", "")
	if err != nil {
		return nil, fmt.Errorf("the suite in %s cannot be used and stays as it is; correct that of the skill, and "+
			"begin a new workspace with --fresh: %w", original, err)
	}
	return found, nil
}
