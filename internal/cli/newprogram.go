package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/setup"
)

func newNewCommand(env Env, o *schedulerOptions) *cobra.Command {
	var fit string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "new NAME [--fit[=KIND]]",
		Short: "Write a program that runs as it stands",
		Long: "Write a filled-in program file, a small target with a number for the tuner, and an evaluation of a\n" +
			"few lines. It runs as it stands; then replace goal, target and evaluation with your own.\n\n" +
			"With --fit the program fits the repository: of the kinds that it has something for, the first whose\n" +
			"evaluation works is written, after it was run here. The kinds: " + strings.Join(setup.Kinds(), ", ") + ".",
		Example: "  scheduler new speed\n  git add -A && git commit -m 'Add program speed'\n  iterate --program speed -n 5\n  scheduler new smaller --fit=js-bundle-size",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, kind, fitted := args[0], strings.TrimPrefix(fit, anyKind), cmd.Flags().Changed("fit")
			if len(args) == 2 {
				if fit != anyKind {
					return misuse.Errorf("give one name, not %q and %q", args[0], args[1])
				}
				name, kind = nameAndKind(args)
			}
			return asObject(env, asJSON, func(env Env) (*written, error) {
				if fitted {
					return newFittedProgram(cmd.Context(), env, *o, name, kind)
				}
				return newProgramFiles(cmd.Context(), env, *o, name)
			})
		},
	}
	objectFlag(cmd.Flags(), &asJSON)
	cmd.Flags().StringVar(&fit, "fit", "", "fit the program to the repository; with a `KIND` only to that")
	cmd.Flags().Lookup("fit").NoOptDefVal = anyKind
	return cmd
}

// written is a new program, as JSON.
type written struct {
	Program string   `json:"program"`
	Files   []string `json:"files"`
	// Fits says what --fit found, Metric what it measured.
	Fits   string        `json:"fits,omitempty"`
	Metric *metric.Value `json:"metric,omitempty"`
}

// anyKind is --fit without a kind.
const anyKind = "any"

// nameAndKind tells the two words around `--fit KIND` apart, which most people write
// without the `=`.
func nameAndKind(words []string) (name, kind string) {
	if slices.Contains(setup.Kinds(), words[0]) {
		return words[1], words[0]
	}
	return words[0], words[1]
}

// newName is what a new program is called; the name of its file says the same.
func newName(given string) (string, error) {
	name := strings.TrimSuffix(given, ".md")
	if strings.EqualFold(name, "readme") {
		return "", misuse.Errorf("a program cannot be named %q: a README.md in the programs directory is no program; choose another name", given)
	}
	if err := program.ValidName(name); err != nil {
		return "", misuse.New(err)
	}
	return name, nil
}

func newFittedProgram(ctx context.Context, env Env, o schedulerOptions, name, kind string) (*written, error) {
	name, err := newName(name)
	if err != nil {
		return nil, err
	}
	fitted, err := fitProgram(ctx, env, app.Options{RepoDir: o.RepoDir, Programs: o.Programs, Dir: o.Dir}, name, kind)
	if err != nil {
		return nil, err
	}
	if err := fitted.File.Write(); err != nil {
		return nil, err
	}
	done := &written{Program: name, Files: []string{fitted.File.Path}, Fits: fitted.Why, Metric: &fitted.Measured.Median}
	return done, printFitted(env, fitted, o.Programs)
}

// fitProgram measures what fits the repository; nothing is written.
func fitProgram(ctx context.Context, env Env, o app.Options, name, kind string) (*setup.Fitted, error) {
	o.Local = true
	deps, err := app.Open(ctx, env, o)
	if errors.Is(err, git.ErrNotRepository) {
		return nil, misuse.Errorf("%s is no git repository: run git init first, and commit your files", cmp.Or(o.RepoDir, "this"))
	}
	if err != nil {
		return nil, err
	}
	return deps.Fit(ctx, name, kind, func(text string) { fmt.Fprintln(env.Stderr, text) })
}

// printFitted says what was written and measured, and what comes next.
func printFitted(env Env, fitted *setup.Fitted, programs string) error {
	name := strings.TrimSuffix(filepath.Base(fitted.File.Path), ".md")
	_, err := fmt.Fprintf(env.Stdout, "written: %s (%s)\nmeasured: %s\n\nnext:\n  git add -A && git commit -m \"Add program %s\"\n"+
		"  iterate agents                 # who can propose changes here\n  iterate --program %s -n 5%s --agent NAME\n",
		fitted.File.Path, fitted.Why, fitted, name, name, programsFlag(programs))
	return err
}

func newProgramFiles(ctx context.Context, env Env, o schedulerOptions, name string) (*written, error) {
	name, err := newName(name)
	if err != nil {
		return nil, err
	}
	root, repo, err := o.Root(ctx, env)
	if err != nil {
		return nil, err
	}
	dir := memory.Programs{Root: root, Dir: o.Programs}.Directory()
	files := setup.NewProgram(root, dir, name)
	taken := []string{filepath.Join(dir, name)}
	for _, file := range files {
		taken = append(taken, file.Path)
	}
	for _, path := range taken {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return nil, misuse.Errorf("%s exists already; choose another name, or remove it", path)
		}
	}
	done := &written{Program: name}
	var out strings.Builder
	for _, file := range files {
		if err := file.Write(); err != nil {
			return nil, err
		}
		done.Files = append(done.Files, file.Path)
		fmt.Fprintf(&out, "written: %s\n", file.Path)
	}
	if unseen := o.Uncommitted(ctx, env).String(); unseen != "" {
		fmt.Fprintf(&out, "\n%s\n", unseen)
	}
	out.WriteString("\nnext:\n")
	if repo == nil {
		out.WriteString("  git init\n")
	}
	fmt.Fprintf(&out, "  git add -A && git commit -m \"Add program %s\"\n  iterate --program %s -n 5%s\n", name, name, programsFlag(o.Programs))
	_, err = io.WriteString(env.Stdout, out.String())
	return done, err
}

// programsFlag is what a command that is shown needs where programs are kept.
func programsFlag(dir string) string {
	if dir == "" {
		return ""
	}
	return " --programs " + process.QuoteWord(dir)
}
