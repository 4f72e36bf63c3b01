package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/store"
	"github.com/org/autoloop/workflows"
)

// initOptions are the flags of `iterate init`.
type initOptions struct {
	yes, force, matrix bool
}

func newInitCommand(env Env, o *iterateOptions) *cobra.Command {
	var init initOptions
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write the workflow, the issue template and a first program",
		Long: "Look at the repository (go, npm, pytest, cargo, make), show which files Autoloop needs in it, ask, and\n" +
			"write them. Run again, it upgrades what it wrote; a file that was edited since, or that was there\n" +
			"before, is kept unless --force is given. Without a terminal to ask on, nothing is written unless\n" +
			"--yes is given. Nothing is committed.",
		Example: "  iterate init\n  iterate init --matrix --yes",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return initRepository(cmd.Context(), env, *o, init)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&init.yes, "yes", "y", false, "write without asking")
	flags.BoolVar(&init.force, "force", false, "replace also workflow and template that were edited")
	flags.BoolVar(&init.matrix, "matrix", false, "several programs at a time, each in a job of its own")
	return cmd
}

func initRepository(ctx context.Context, env Env, o iterateOptions, init initOptions) error {
	root, repo, err := schedulerOptions{repoDir: o.repoDir, programs: o.programs}.root(ctx, env)
	if err != nil {
		return err
	}
	if repo == nil {
		return Usagef("%s is no git repository: run git init first", root)
	}
	steps, err := initSteps(root, o.programs, init)
	if err != nil {
		return err
	}
	todo := 0
	for _, s := range steps {
		fmt.Fprintf(env.Stdout, "%-7s %s%s\n", s.action, s.name, s.why)
		if s.action.writes() {
			todo++
		}
	}
	if todo == 0 {
		fmt.Fprintln(env.Stdout, "there is nothing to do")
		return nil
	}
	if !init.yes && !ask(env, fmt.Sprintf("write %d files? [y/n] ", todo)) {
		fmt.Fprintln(env.Stdout, "nothing was changed")
		return nil
	}
	for _, s := range steps {
		if err := s.apply(root); err != nil {
			return err
		}
	}
	_, err = io.WriteString(env.Stdout, initNext)
	return err
}

const initNext = `
next:
  scheduler validate             # what the first program will do
  git add -A && git commit -m "Add Autoloop"
  gh label create autoloop-program   # once, for programs that are issues
and allow pull requests of workflows: Settings, Actions, General
`

const initWorkflow = ".github/workflows/autoloop.yml"

// hasMatrix says whether the workflow that is there has a job for each
// program, so that an upgrade does not take that away.
func hasMatrix(root string) bool {
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(initWorkflow)))
	return err == nil && strings.Contains(string(data), "needs: schedule")
}

// initSteps compares what there is with what should be.
func initSteps(root, programs string, o initOptions) ([]initStep, error) {
	workflow := workflows.Simple
	if o.matrix || hasMatrix(root) {
		workflow = workflows.Matrix
	}
	var steps []initStep
	for _, file := range []struct{ name, text string }{
		{initWorkflow, sealed(workflow, "# ", "")},
		{".github/ISSUE_TEMPLATE/autoloop-program.md", sealed(workflows.IssueTemplate, "<!-- ", " -->")},
	} {
		s, err := compareInit(root, file.name, file.text, o.force)
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	found, err := store.Programs{Root: root, Dir: programs, Parse: program.ParseHead}.Load(false)
	if err != nil {
		return nil, &UsageError{err}
	}
	if len(found) > 0 {
		return append(steps, initStep{action: initKeep, name: found[0].File, why: " (there is a program)"}), nil
	}
	dir := store.Programs{Root: root, Dir: programs}.Directory()
	first, err := firstProgram(root, dir)
	return append(steps, first...), err
}

// compareInit decides what happens to one file of ours.
func compareInit(root, name, text string, force bool) (initStep, error) {
	s := initStep{action: initCreate, name: name, text: text}
	if err := insideOnly(root, name); err != nil {
		return s, err
	}
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	now := strings.ReplaceAll(string(data), "\r\n", "\n")
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return s, err
	case now == text:
		s.action, s.why = initKeep, " (up to date)"
	case force || isSealed(now) || strings.HasPrefix(text, now) && now != "":
		s.action, s.why = initUpdate, ""
	default:
		s.action, s.why = initKeep, " (edited, or not written by iterate init; --force replaces it)"
	}
	return s, nil
}

// insideOnly refuses a path with a link in it, which could lead out of the
// repository.
func insideOnly(root, name string) error {
	at := root
	for part := range strings.SplitSeq(name, "/") {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link, and is not written through: replace it by what it points to", at)
		}
	}
	return nil
}
