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
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
)

// initOptions are the flags of `iterate init`.
type initOptions struct {
	yes, force, matrix, simple, adopt bool
}

func newInitCommand(env Env, o *iterateOptions) *cobra.Command {
	var init initOptions
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write the workflows, the issue template and a first program",
		Long: "Look at the repository (go, npm, pytest, cargo, make; its CI), show what Autoloop needs in it, ask, and do\n" +
			"it. Run again, it upgrades what it wrote; a file that was edited since, or that was there before, is\n" +
			"kept unless --force is given. With a token and a repository it makes the labels too. Without a\n" +
			"terminal to ask on, nothing is changed unless --yes is given. Nothing is committed.\n\n" +
			"The first program fits the directory that you are in, or the nearest above it whose tests are known.\n" +
			"With --programs DIR the workflows look for programs there.\n\n" +
			"--adopt takes over from a gh-aw installation: its branches autoloop/NAME-DIGITS become autoloop/NAME, on\n" +
			"the remote too. State, labels and issues are read as they are.",
		Example: "  iterate init\n  iterate init --simple --yes\n  iterate init --adopt",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return initRepository(cmd.Context(), env, *o, init)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&init.yes, "yes", "y", false, "do it without asking")
	flags.BoolVar(&init.force, "force", false, "replace also workflows and template that were edited")
	flags.BoolVar(&init.simple, "simple", false, "one job for everything, with a token that can write beside agent and evaluation")
	flags.BoolVar(&init.matrix, "matrix", false, "two jobs for each program, of which one has that token (the default)")
	flags.BoolVar(&init.adopt, "adopt", false, "rename the branches of a gh-aw installation")
	flags.StringVar(&o.Remote, "remote", "", "the git remote with these branches (default: origin)")
	githubFlags(flags, &o.GitHub)
	cmd.MarkFlagsMutuallyExclusive("simple", "matrix")
	return cmd
}

func initRepository(ctx context.Context, env Env, o iterateOptions, init initOptions) error {
	deps, err := app.Open(ctx, env, o.Options)
	switch {
	case errors.Is(err, git.ErrNotRepository):
		return Usagef("%s is no git repository: run git init first", cmp.Or(o.RepoDir, "this"))
	case err != nil:
		return err
	}
	root := deps.Repo.Root
	dir, err := initPrograms(root, o.Programs)
	if err != nil {
		return err
	}
	deps.Options.Programs = dir
	steps, err := initSteps(root, env.Path(o.RepoDir), dir, init)
	if err != nil {
		return err
	}
	labels, byHand := labelSteps(ctx, env, deps.GitHub)
	steps = append(steps, labels...)
	if init.adopt {
		renames, err := adoptSteps(ctx, deps)
		if err != nil {
			return err
		}
		steps = append(steps, renames...)
	}
	return doInit(ctx, env, init, root, steps, strings.NewReplacer("LABELS", byHand, "PROGRAMS", programsFlag(dir)).Replace(initNext))
}

// doInit shows the steps, asks, does them, and says what comes next.
func doInit(ctx context.Context, env Env, init initOptions, root string, steps []initStep, next string) error {
	todo := 0
	for _, s := range steps {
		fmt.Fprintf(env.Stdout, "%-7s %s%s\n", s.action, s.name, s.why)
		if s.action.changes() {
			todo++
		}
	}
	if todo == 0 {
		fmt.Fprintln(env.Stdout, "there is nothing to do")
		return nil
	}
	question := fmt.Sprintf("make these %d changes? [y/n] ", todo)
	if todo == 1 {
		question = "make this change? [y/n] "
	}
	if !init.yes {
		agreed, err := ask(ctx, env, question)
		if err != nil || !agreed {
			fmt.Fprintln(env.Stdout, "nothing was changed")
			return err
		}
	}
	for _, s := range steps {
		if err := s.apply(ctx, root); err != nil {
			return fmt.Errorf("%s: %w; run it again to go on", s.name, err)
		}
	}
	_, err := io.WriteString(env.Stdout, next)
	return err
}

const initNext = `
next:
  scheduler validatePROGRAMS             # what the first program will do
  git add -A && git commit -m "Add Autoloop" && git push
LABELSand allow pull requests of workflows: Settings, Actions, General
`

// initSteps compares what there is with what should be. The first program fits
// the directory here, or one above it.
func initSteps(root, here, programs string, o initOptions) ([]initStep, error) {
	source := memory.Programs{Root: root, Dir: programs, Parse: program.ParseHead}
	var found []*program.Program
	if programs == "" || exists(source.Directory()) { // one that is named is made
		var err error
		if found, err = source.Load(false); err != nil {
			return nil, misuse.New(err)
		}
	}
	files, err := initFiles(root, found, programs, o)
	if err != nil {
		return nil, err
	}
	var steps []initStep
	for _, file := range files {
		s, err := compareInit(root, file.name, file.text, o.force)
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	if wantsSimple(root, o) && exists(filepath.Join(root, filepath.FromSlash(initPair))) {
		steps = append(steps, initStep{action: initKeep, name: initPair, why: " (nothing calls it any more: delete it)"})
	}
	if len(found) > 0 {
		return append(steps, initStep{action: initKeep, name: found[0].File, why: " (there is a program)"}), nil
	}
	first, err := firstProgram(root, here, source.Directory())
	return append(steps, first...), err
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
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
