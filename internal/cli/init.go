package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/setup"
)

// initOptions are the flags of `iterate init`.
type initOptions struct {
	setup.Options

	yes, adopt, simple, json bool
	// kind is the kind of program that --local writes; "" is whatever fits.
	kind string
}

func newInitCommand(env Env, o *iterateOptions) *cobra.Command {
	var init initOptions
	cmd := &cobra.Command{
		Use:   "init [NAME]",
		Short: "Write the workflows, the issue template and a first program, or one program alone",
		Long: `Look at the repository (go, npm, pytest, cargo, make; its CI), show what Autoloop needs in it, ask,
and do it. Run again, it upgrades what it wrote; a file that was edited since, or was there before,
is kept. With a token and a repository it makes the labels too. Nothing is committed.

The first program fits the directory that you are in, or the nearest above it whose tests are known,
and was measured here. --local writes that program alone; a wrong --kind lists all kinds.

With NAME and without --local it writes an example of that name that runs as it stands.

Without --action the workflows are pinned to the commit that this binary was released from.`,
		Example: "  iterate init\n  iterate init --simple --yes\n  iterate init speed",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := strings.Join(args, "")
			if init.kind != "" && !o.Local {
				return misuse.Errorf("--kind is for --local")
			}
			write := initRepository
			switch {
			case o.Local:
				write = initLocal
			case len(args) > 0:
				write = initExample
			}
			if len(args) > 0 {
				var err error
				if name, err = newName(name); err != nil {
					return err
				}
			}
			if cmd.Flags().Changed("simple") {
				init.Simple = &init.simple
			}
			return asObject(env, init.json, func(env Env) (*initialized, error) {
				done, err := write(cmd.Context(), env, *o, init, name)
				if len(done.Steps) == 0 && err != nil {
					return nil, err
				}
				return &done, err
			})
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&init.yes, "yes", "y", false, "do it without asking")
	objectFlag(flags, &init.json)
	flags.BoolVar(&init.Force, "force", false, "replace also workflows and template that were edited")
	flags.BoolVar(&init.simple, "simple", false,
		"one job with a token that can write beside agent and evaluation; with =false two jobs (the default)")
	flags.StringVar(&init.Action, "action", "",
		"what the workflows use, as OWNER/NAME@REF (default: what they use now, else the commit of this binary)")
	flags.BoolVar(&init.Pages, "pages", false,
		"put the page of what was tried on GitHub Pages after every run (private repositories: an artifact)")
	flags.BoolVar(&init.adopt, "adopt", false,
		"take over from a gh-aw installation: rename its branches autoloop/NAME-DIGITS, on the remote too")
	flags.StringVar(&o.Remote, "remote", "", "the git remote with these branches (default: origin)")
	flags.StringVar(&init.kind, "kind", "", "the `KIND` of program that --local writes (default: what fits)")
	githubFlags(flags, &o.Options)
	flags.Lookup("local").Usage = "for this machine alone: no workflows, one program that was measured here"
	cmd.MarkFlagsMutuallyExclusive("simple", "local")
	cmd.MarkFlagsMutuallyExclusive("adopt", "local")
	return cmd
}

// newName is what a new program is called; the name of its file says the same.
func newName(given string) (string, error) {
	name := strings.TrimSuffix(given, ".md")
	if strings.EqualFold(name, "readme") {
		return "", misuse.Errorf("a program cannot be named %q: a README.md in the programs directory is no program; "+
			"choose another name", given)
	}
	if err := program.ValidName(name); err != nil {
		return "", misuse.New(err)
	}
	return name, nil
}

// initialized is what there was to do and whether it was done, as JSON.
type initialized struct {
	Changed bool       `json:"changed"`
	Steps   []initStep `json:"steps"`
}

// initStep is a file, or what else is created, updated, renamed or kept.
type initStep struct {
	Action setup.Action `json:"action"`
	Name   string       `json:"name"`
	Why    string       `json:"why,omitempty"`
}

// initLocal writes one program that was measured here, after a yes; the name "" is that
// of its kind.
func initLocal(ctx context.Context, env Env, o iterateOptions, init initOptions, name string) (done initialized,
	err error,
) {
	fitted, err := fitProgram(ctx, env, o.Options, name, init.kind)
	if err != nil {
		return done, err
	}
	done.Steps = []initStep{{setup.Create, fitted.File.Path, fitted.Why + ": " + fitted.String()}}
	if !init.yes {
		fmt.Fprintf(env.Stdout, "%s\nmeasured: %s\n", fitted.File.Text, fitted)
		agreed, err := ask(ctx, env, fmt.Sprintf("write %s? [y/n] ", fitted.File.Path))
		if err != nil || !agreed {
			fmt.Fprintln(env.Stdout, "nothing was changed")
			return done, err
		}
	}
	if err := fitted.File.Write(); err != nil {
		return done, err
	}
	done.Changed = true
	name = strings.TrimSuffix(filepath.Base(fitted.File.Path), ".md")
	_, err = fmt.Fprintf(env.Stdout,
		"written: %s (%s)\nmeasured: %s\n\nnext:\n  git add -A && git commit -m \"Add program %s\"\n"+
			"  iterate doctor                 # who can propose changes here\n"+
			"  iterate --program %s -n 5%s --agent NAME\n",
		fitted.File.Path, fitted.Why, fitted, name, name, programsFlag(o.Programs))
	return done, err
}

// fitProgram measures what fits the repository; nothing is written.
func fitProgram(ctx context.Context, env Env, o Options, name, kind string) (*setup.Fitted, error) {
	o.Local = true
	deps, err := openDeps(ctx, env, o)
	if err != nil {
		return nil, err
	}
	shown := newProgress(env)
	defer shown.Close()
	return deps.Fit(ctx, name, kind, func(line string) {
		if shown.live { // else Begin prints it
			shown.Between(func() { fmt.Fprintln(env.Stderr, line) })
		}
		shown.Begin(line)
	})
}

// initExample writes an example that runs as it stands.
func initExample(ctx context.Context, env Env, o iterateOptions, init initOptions, name string) (done initialized,
	err error,
) {
	repo, err := openRepo(ctx, env, o.RepoDir)
	if err != nil {
		return done, err
	}
	steps, err := setup.FirstProgram(repo.Root,
		memory.Programs{Root: repo.Root, Dir: o.Programs}.Directory(), name, nil)
	if err != nil {
		return done, err
	}
	init.yes = true
	done, err = doInit(ctx, env, init, repo.Root, steps, fmt.Sprintf(
		"\nnext:\n  git add -A && git commit -m \"Add program %s\"\n  iterate --program %s -n 5%s\n", name, name,
		programsFlag(o.Programs)))
	warnUncommitted(env, Scheduling{Options: o.Options}.Uncommitted(ctx, env).String())
	return done, err
}

// programsFlag is what a command that is shown needs where programs are kept.
func programsFlag(dir string) string {
	if dir == "" {
		return ""
	}
	return " --programs " + process.QuoteWord(dir)
}

func initRepository(ctx context.Context, env Env, o iterateOptions, init initOptions, _ string) (done initialized,
	err error,
) {
	deps, err := openDeps(ctx, env, o.Options)
	if err != nil {
		return done, err
	}
	root := deps.Repo.Root
	if deps.Options.Programs, err = setup.ProgramsDir(root, o.Programs); err != nil {
		return done, err
	}
	dir := deps.Options.Programs
	version, commit := builtFrom()
	init.Origin = setup.Origin{Repository: env.ReleasedFrom, Version: version, Commit: commit}
	steps, lacks, err := setup.Steps(root, dir, init.Options)
	if err != nil {
		return done, err
	}
	if lacks {
		first, err := firstProgram(ctx, env, deps, !init.yes)
		if err != nil {
			return done, err
		}
		steps = append(steps, first...)
	}
	labels, byHand, err := setup.LabelSteps(ctx, deps.GitHub)
	if err != nil {
		fmt.Fprintf(env.Stderr, "warning: the labels are left to you: %v\n", err)
	}
	steps = append(steps, labels...)
	if init.adopt {
		renames, err := adoptSteps(ctx, deps)
		if err != nil {
			return done, err
		}
		steps = append(steps, renames...)
	}
	return doInit(ctx, env, init, root, steps,
		strings.NewReplacer("LABELS", byHand, "PROGRAMS", programsFlag(dir)).Replace(initNext))
}

// firstProgram are the steps that write one that fits and was measured here; where none
// does, the example, if that is wanted.
func firstProgram(ctx context.Context, env Env, deps *dependencies, example bool) ([]setup.Step, error) {
	o := Options{RepoDir: deps.Options.RepoDir, Programs: deps.Options.Programs, Dir: deps.Options.Dir}
	fitted, err := fitProgram(ctx, env, o, "", "")
	if _, none := errors.AsType[*misuse.Error](err); none {
		fmt.Fprintln(env.Stderr, err)
		if !example {
			return nil, nil
		}
	} else if err != nil {
		return nil, err
	}
	return setup.FirstProgram(deps.Repo.Root, deps.Source().Directory(), "example", fitted)
}

// adoptSteps rename branches on the remote that iterations would use, else on
// origin when there is one.
func adoptSteps(ctx context.Context, deps *dependencies) ([]setup.Step, error) {
	a := setup.Adopter{
		Repo: deps.Repo, GitHub: deps.GitHub, Programs: deps.Source(), Remote: deps.Memory.Remote,
		Now: deps.Env.Now,
	}
	if a.Remote == "" && !deps.Options.Local {
		if _, err := deps.Repo.Remote("origin").URL(ctx); err == nil {
			a.Remote = "origin"
		}
	}
	return a.Steps(ctx)
}

// doInit shows the steps, asks, does them, and says what comes next.
func doInit(ctx context.Context, env Env, init initOptions, root string, steps []setup.Step,
	next string,
) (done initialized, err error) {
	todo := 0
	for _, s := range steps {
		done.Steps = append(done.Steps, initStep{s.Action, s.Name, strings.TrimSpace(s.Why)})
		fmt.Fprintf(env.Stdout, "%-7s %s%s\n", s.Action, s.Name, s.Why)
		if s.Action.Changes() {
			todo++
		}
	}
	if todo == 0 {
		fmt.Fprintln(env.Stdout, "there is nothing to do")
		return done, nil
	}
	question := fmt.Sprintf("make these %d changes? [y/n] ", todo)
	if todo == 1 {
		question = "make this change? [y/n] "
	}
	if !init.yes {
		agreed, err := ask(ctx, env, question)
		if err != nil || !agreed {
			fmt.Fprintln(env.Stdout, "nothing was changed")
			return done, err
		}
	}
	for _, s := range steps {
		if err := s.Apply(ctx, root); err != nil {
			return done, fmt.Errorf("%s: %w; run it again to go on", s.Name, err)
		}
	}
	done.Changed = true
	_, err = io.WriteString(env.Stdout, next)
	return done, err
}

const initNext = `
next:
  iterate validatePROGRAMS             # what the first program will do
  git add -A && git commit -m "Add Autoloop" && git push
LABELSand allow pull requests of workflows: Settings, Actions, General
`
