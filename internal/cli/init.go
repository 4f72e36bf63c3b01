package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/setup"
)

// initOptions are the flags of `iterate init`.
type initOptions struct {
	setup.Options

	adopt, simple bool
	// kind is the kind of program that --local writes; "" is whatever fits.
	kind string
}

func (a *App) newInitCommand() *cobra.Command {
	var init initOptions
	cmd := &cobra.Command{
		Use:   "init [NAME]",
		Short: "Write the workflows, the issue template and a first program, or one program alone",
		Long: `Look at the repository (go, npm, pytest, cargo, make; its CI), show what Autoloop needs in it, ask,
and do it. Run again, it upgrades what it wrote; a file that was edited since, or was there before,
is kept. With a token and a repository it makes the labels too. Nothing is committed.

The first program fits the directory that you are in, or the nearest above it whose tests are known,
and was measured here. --local writes that program alone; a wrong --kind lists all kinds.

With NAME and without --local it writes an example of that name that runs as it stands.`,
		Example: "  iterate init\n  iterate init --simple --yes\n  iterate init speed",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if init.kind != "" && !a.Local {
				return misuse.Errorf("--kind is for --local")
			}
			name := ""
			if len(args) > 0 {
				var err error
				if name, err = newName(args[0]); err != nil {
					return err
				}
			}
			if cmd.Flags().Changed("simple") {
				init.Simple = &init.simple
			}
			return asObject(a, func() (*initialized, error) {
				plan := &initialized{}
				var err error
				if a.Local || name != "" {
					err = a.planProgram(cmd.Context(), plan, init.kind, name)
				} else {
					err = a.planRepository(cmd.Context(), plan, init)
				}
				if err != nil {
					return nil, err
				}
				err = a.doInit(cmd.Context(), plan)
				if name != "" {
					a.warn(a.uncommitted(cmd.Context()).Files()...)
				}
				return plan, err
			})
		},
	}
	flags := cmd.Flags()
	a.yesFlag(cmd, "do it without asking")
	a.jsonFlag(cmd)
	flags.BoolVar(&init.Force, "force", false, "replace also workflows and template that were edited")
	flags.BoolVar(&init.simple, "simple", false,
		"one job with a token that can write beside agent and evaluation; with =false two jobs (the default)")
	flags.StringVar(&init.Action, "action", "",
		"what the workflows use, as OWNER/NAME@REF (default: what they use now, else the commit of this binary)")
	flags.BoolVar(&init.Pages, "pages", false,
		"put the page of what was tried on GitHub Pages after every run (private repositories: an artifact)")
	flags.BoolVar(&init.adopt, "adopt", false,
		"take over from a gh-aw installation: rename its branches autoloop/NAME-DIGITS, on the remote too")
	flags.StringVar(&a.Remote, "remote", "", "the git remote with these branches (default: origin)")
	flags.StringVar(&init.kind, "kind", "", "the `KIND` of program that --local writes (default: what fits)")
	a.githubFlags(cmd)
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
	return name, misuse.New(program.ValidName(name))
}

// initialized is what there is to do and whether it was done, as JSON.
type initialized struct {
	Changed bool `json:"changed"`
	// Steps are files, or what else is created, updated, renamed or kept.
	Steps []setup.Step `json:"steps"`

	next string // what a person does then
}

// planProgram plans one program: with --local one that was measured here, called as its kind
// without a name, else an example.
func (a *App) planProgram(ctx context.Context, plan *initialized, kind, name string) (err error) {
	var fitted *setup.Fitted
	doctor, proposer := "", ""
	if a.Local {
		if err = a.openRun(ctx); err == nil {
			fitted, err = a.fitProgram(ctx, name, kind)
		}
	} else {
		a.Yes = true
		err = a.openRepo(ctx)
	}
	if err != nil {
		return err
	}
	dir := a.source().Directory()
	if fitted != nil {
		if !a.Yes {
			fmt.Fprintln(a.Stdout, fitted.Text)
		}
		name, proposer = fitted.Name, " --agent NAME"
		doctor = "  iterate doctor                 # who can propose changes here\n"
		plan.next = fmt.Sprintf("written: %s (%s)\nmeasured: %s\n", filepath.Join(dir, name+".md"), fitted.Why, fitted)
	}
	plan.next += fmt.Sprintf(runNext, name, doctor, a.programsFlag(), proposer)
	plan.Steps, err = setup.FirstProgram(a.Checkout, dir, name, fitted)
	return err
}

const runNext = `
next:
  git add -A && git commit -m "Add program %[1]s"
%[2]s  iterate --program %[1]s -n 5%[3]s%[4]s
`

// fitProgram measures a program that fits the repository and the directory that the
// caller is in, under a name, "" for its kind's, and of a kind, "" for any. Nothing is
// written.
func (a *App) fitProgram(ctx context.Context, name, kind string) (*setup.Fitted, error) {
	tracked, err := a.trackedFiles(ctx)
	if err != nil {
		return nil, misuse.Errorf("the repository has no commit yet: commit your files first")
	}
	shown := newProgress(a.Env)
	defer shown.Close()
	fitter := setup.Fitter{
		Root: a.Checkout, Here: a.Path(a.RepoDir), Tracked: tracked, Measure: a.repeat,
		Tell: func(line string) {
			if shown.live { // else Begin prints it
				shown.Between(func() { fmt.Fprintln(a.Stderr, line) })
			}
			shown.Begin(line)
		},
		Installed: func(command string) bool {
			_, err := process.LookPath(command, a.Dir, a.Environ)
			return err == nil
		},
	}
	return fitter.Fit(ctx, a.source().Directory(), name, kind)
}

// programsFlag is what a command that is shown needs where programs are kept.
func (a *App) programsFlag() string {
	if a.Programs == "" {
		return ""
	}
	return " --programs " + process.QuoteWord(a.Programs)
}

func (a *App) planRepository(ctx context.Context, plan *initialized, init initOptions) (err error) {
	if err := a.openRun(ctx); err != nil {
		return err
	}
	if a.Programs, err = setup.ProgramsDir(a.Checkout, a.Programs); err != nil {
		return err
	}
	init.Origin = setup.Origin{Repository: a.ReleasedFrom}
	if version, commit, edited := builtFrom(); !edited {
		init.Origin.Version, init.Origin.Commit = version, commit
	}
	var programs []*program.Program
	if _, err := os.Stat(a.source().Directory()); a.Programs == "" || err == nil {
		if programs, err = a.source().Load(false); err != nil { // one that is named is made
			return misuse.New(err)
		}
	}
	steps, err := setup.Steps(a.Checkout, a.Programs, programs, init.Options)
	if err != nil {
		return err
	}
	var first, renames []setup.Step
	if len(programs) == 0 {
		if first, err = a.firstProgram(ctx); err != nil {
			return err
		}
	}
	labels, byHand, err := setup.LabelSteps(ctx, a.GitHub)
	if err != nil {
		a.warn(fmt.Sprintf("the labels are left to you: %v", err))
	}
	if init.adopt {
		if _, err := a.Repo.Remote("origin").URL(ctx); a.Memory.Remote == "" && err == nil {
			a.Memory.Remote = "origin"
		}
		if renames, err = setup.AdoptSteps(ctx, a.Memory, program.Names(programs)); err != nil {
			return err
		}
	}
	plan.Steps = slices.Concat(steps, first, labels, renames)
	plan.next = strings.NewReplacer("LABELS", byHand, "PROGRAMS", a.programsFlag()).Replace(initNext)
	return nil
}

// firstProgram are the steps that write one that fits and was measured here; where none
// does, the example, if a person can refuse it.
func (a *App) firstProgram(ctx context.Context) ([]setup.Step, error) {
	fitted, err := a.fitProgram(ctx, "", "")
	if misuse.Is(err) {
		fmt.Fprintln(a.Stderr, err)
		if a.Yes {
			return nil, nil
		}
	} else if err != nil {
		return nil, err
	}
	return setup.FirstProgram(a.Checkout, a.source().Directory(), "example", fitted)
}

// doInit shows the steps, asks, does them, and says what comes next.
func (a *App) doInit(ctx context.Context, plan *initialized) error {
	todo := 0
	for _, s := range plan.Steps {
		line := fmt.Sprintf("%-7s %s %s", s.Action, s.Name, s.Why)
		fmt.Fprintln(a.Stdout, strings.TrimRight(line, " "))
		if s.Action != setup.Keep {
			todo++
		}
	}
	if todo == 0 {
		fmt.Fprintln(a.Stdout, "there is nothing to do")
		return nil
	}
	if !a.Yes {
		agreed, err := a.ask(ctx, fmt.Sprintf("make %s? [y/n] ", render.Count(todo, "change")))
		if err != nil || !agreed {
			fmt.Fprintln(a.Stdout, "nothing was changed")
			return err
		}
	}
	for _, s := range plan.Steps {
		if err := s.Apply(ctx, a.Checkout); err != nil {
			return fmt.Errorf("%s: %w; run it again to go on", s.Name, err)
		}
	}
	plan.Changed = true
	_, err := io.WriteString(a.Stdout, plan.next)
	return err
}

const initNext = `
next:
  iterate validatePROGRAMS             # what the first program will do
  git add -A && git commit -m "Add Autoloop" && git push
LABELSand allow pull requests of workflows: Settings, Actions, General
`
