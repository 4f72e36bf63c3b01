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

	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/setup"
)

func newNewCommand(env Env, o *schedulerOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "new NAME",
		Short: "Write a program that runs as it stands",
		Long: "Write a filled-in program file, a small target with a number for the tuner, and an evaluation of a\n" +
			"few lines. It runs as it stands; then replace goal, target and evaluation with your own.",
		Example: "  scheduler new speed\n  git add -A && git commit -m 'Add program speed'\n  iterate --program speed -n 5",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return newProgramFiles(cmd.Context(), env, *o, args[0])
		},
	}
}

func newProgramFiles(ctx context.Context, env Env, o schedulerOptions, name string) error {
	if strings.EqualFold(name, "readme") {
		return misuse.Errorf("a program cannot be named %q: a README.md in the programs directory is no program; choose another name", name)
	}
	if err := program.ValidName(name); err != nil {
		return misuse.New(err)
	}
	root, repo, err := o.root(ctx, env)
	if err != nil {
		return err
	}
	dir := memory.Programs{Root: root, Dir: o.programs}.Directory()
	files := setup.NewProgram(root, dir, name)
	taken := []string{filepath.Join(dir, name)}
	for _, file := range files {
		taken = append(taken, file.Path)
	}
	for _, path := range taken {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return misuse.Errorf("%s exists already; choose another name, or remove it", path)
		}
	}
	var out strings.Builder
	for _, file := range files {
		if err := file.Write(); err != nil {
			return err
		}
		fmt.Fprintf(&out, "written: %s\n", file.Path)
	}
	if unseen := o.uncommitted(ctx, env).String(); unseen != "" {
		fmt.Fprintf(&out, "\n%s\n", unseen)
	}
	out.WriteString("\nnext:\n")
	if repo == nil {
		out.WriteString("  git init\n")
	}
	fmt.Fprintf(&out, "  git add -A && git commit -m \"Add program %s\"\n  iterate --program %s -n 5%s\n", name, name, programsFlag(o.programs))
	_, err = io.WriteString(env.Stdout, out.String())
	return err
}

// programsFlag is what a command that is shown needs where programs are kept.
func programsFlag(dir string) string {
	if dir == "" {
		return ""
	}
	return " --programs " + process.QuoteWord(dir)
}
