package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/setup"
)

// initOptions are the flags of `iterate init`.
type initOptions struct {
	setup.Options

	yes, adopt, json bool
	// kind is the kind of program that --local writes; "" is whatever fits.
	kind string
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
			"--action names the action that they use: a fork, a branch or a tag. Later runs keep it; without it they\n" +
			"are pinned to the commit that this binary was released from.\n\n" +
			"--local writes no workflow: one program that fits, whose evaluation was run here before it is written. --kind\n" +
			"asks for one of " + strings.Join(setup.Kinds(), ", ") + ".\n\n" +
			"--adopt takes over from a gh-aw installation: its branches autoloop/NAME-DIGITS become autoloop/NAME, on\n" +
			"the remote too. State, labels and issues are read as they are.",
		Example: "  iterate init\n  iterate init --simple --yes\n  iterate init --action me/autoloop@main\n  iterate init --local --kind go-benchmark\n  iterate init --adopt",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if init.kind != "" && !o.Local {
				return misuse.Errorf("--kind is for --local")
			}
			write := initRepository
			if o.Local {
				write = initLocal
			}
			return asObject(env, init.json, func(env Env) (*initialized, error) {
				done, err := write(cmd.Context(), env, *o, init)
				if err != nil {
					return nil, err
				}
				return &done, nil
			})
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&init.yes, "yes", "y", false, "do it without asking")
	objectFlag(flags, &init.json)
	flags.BoolVar(&init.Force, "force", false, "replace also workflows and template that were edited")
	flags.BoolVar(&init.Simple, "simple", false, "one job for everything, with a token that can write beside agent and evaluation")
	flags.BoolVar(&init.Matrix, "matrix", false, "two jobs for each program, of which one has that token (the default)")
	flags.StringVar(&init.Action, "action", "", "what the workflows use, as OWNER/NAME@REF (default: what they use now, else the commit of this binary)")
	flags.BoolVar(&init.Pages, "pages", false, "put the page of what was tried on GitHub Pages after every run (private repositories: an artifact)")
	flags.BoolVar(&init.Example, "example", false, "write an example program also where nothing in the repository suggests one")
	flags.BoolVar(&init.adopt, "adopt", false, "rename the branches of a gh-aw installation")
	flags.StringVar(&o.Remote, "remote", "", "the git remote with these branches (default: origin)")
	flags.StringVar(&init.kind, "kind", "", "the `KIND` of program that --local writes (default: what fits)")
	githubFlags(flags, &o.GitHub)
	flags.Lookup("local").Usage = "for this machine alone: no workflows, one program that was measured here"
	cmd.MarkFlagsMutuallyExclusive("simple", "matrix", "local")
	cmd.MarkFlagsMutuallyExclusive("adopt", "local")
	return cmd
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

// initLocal writes one program that was measured here, after a yes.
func initLocal(ctx context.Context, env Env, o iterateOptions, init initOptions) (done initialized, err error) {
	fitted, err := fitProgram(ctx, env, o.Options, "", init.kind)
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
	return done, printFitted(env, fitted, o.Programs)
}

func initRepository(ctx context.Context, env Env, o iterateOptions, init initOptions) (done initialized, err error) {
	deps, err := app.Open(ctx, env, o.Options)
	switch {
	case errors.Is(err, git.ErrNotRepository):
		return done, misuse.Errorf("%s is no git repository: run git init first", cmp.Or(o.RepoDir, "this"))
	case err != nil:
		return done, err
	}
	root := deps.Repo.Root
	if deps.Options.Programs, err = setup.ProgramsDir(root, o.Programs); err != nil {
		return done, err
	}
	dir := deps.Options.Programs
	version, commit := app.Built()
	init.Origin = setup.Origin{Repository: env.ReleasedFrom, Version: version, Commit: commit}
	init.Example = init.Example || !init.yes
	steps, err := setup.Steps(root, env.Path(o.RepoDir), dir, init.Options)
	if err != nil {
		return done, err
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
	return doInit(ctx, env, init, root, steps, strings.NewReplacer("LABELS", byHand, "PROGRAMS", programsFlag(dir)).Replace(initNext))
}

// adoptSteps rename branches on the remote that iterations would use, else on
// origin when there is one.
func adoptSteps(ctx context.Context, deps *app.Deps) ([]setup.Step, error) {
	a := setup.Adopter{Repo: deps.Repo, GitHub: deps.GitHub, Programs: deps.Source(program.ParseHead), Remote: deps.Memory.Remote, Now: deps.Env.Now}
	if a.Remote == "" && !deps.Options.Local {
		if _, err := deps.Repo.Remote("origin").URL(ctx); err == nil {
			a.Remote = "origin"
		}
	}
	return a.Steps(ctx)
}

// doInit shows the steps, asks, does them, and says what comes next.
func doInit(ctx context.Context, env Env, init initOptions, root string, steps []setup.Step, next string) (done initialized, err error) {
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
  scheduler validatePROGRAMS             # what the first program will do
  git add -A && git commit -m "Add Autoloop" && git push
LABELSand allow pull requests of workflows: Settings, Actions, General
`
