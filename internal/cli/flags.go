package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
)

// programFlags say which program is meant, and where its branches and records are.
func (a *App) programFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&a.Program, "program", a.Getenv("AUTOLOOP_PROGRAM"),
		"the program to run (default: the scheduler's choice)")
	flags.StringVar(&a.Base, "base", "", "the default branch that the work is for")
	flags.StringVar(&a.CIWorkflow, "ci-workflow", "",
		"the `FILE` name of the workflow that is started for what is pushed (default: the program's)")
	flags.BoolVar(&a.Force, "force", false,
		"iterate although the program is paused or completed; the ledger says so")
	a.sharedFlags(cmd)
	a.jsonFlag(cmd)
	a.dirFlag(cmd)
}

// sharedFlags say where branches and records are: here alone, or on a remote and GitHub too.
func (a *App) sharedFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.Remote, "remote", "",
		"the git remote that branches and records are shared with (default: origin with GitHub)")
	a.githubFlags(cmd)
}

// dirFlag says where the files of this machine are.
func (a *App) dirFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.Output, "dir", "",
		"where autoloop.json and transcripts are (default: AUTOLOOP_DIR, else /tmp/gh-aw in Actions, else autoloop "+
			"in XDG_STATE_HOME or ~/.local/state)")
}

// githubFlags say which repository is used, here and on GitHub.
func (a *App) githubFlags(cmd *cobra.Command) {
	a.repositoryFlags(cmd)
	cmd.Flags().StringVar(&a.Repository, "repo", "",
		"the repository on GitHub, as owner/name (default: GITHUB_REPOSITORY)")
	cmd.Flags().BoolVar(&a.Local, "local", false, "use no remote and no GitHub, whatever the environment says")
}

// repositoryFlags say which repository is used here, and where its programs are.
func (a *App) repositoryFlags(cmd *cobra.Command) {
	a.repoDirFlag(cmd)
	cmd.Flags().StringVar(&a.Programs, "programs", "", "directory of program files (default: .autoloop/programs)")
}

func (a *App) repoDirFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.RepoDir, "repo-dir", "", "the repository (default: here)")
}

// agentFlags say who proposes.
func (a *App) agentFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&a.Agent, "agent", "",
		"who proposes, as \"iterate doctor\" lists them (default: the program's, else AUTOLOOP_AGENT)")
	flags.StringVar(&a.AgentCommand, "agent-command", "",
		"the command of the agent `command`, which is then the default agent (default: the program's)")
	flags.StringVar(&a.Model, "model", "", "the model that the agent uses")
	a.budgetFlag(cmd, "begin no further iteration when this run has cost `USD`, besides the program's budgets")
}

// budgetFlag bounds what a run may cost.
func (a *App) budgetFlag(cmd *cobra.Command, usage string) {
	parsed(cmd, &a.BudgetUSD, "budget-usd", usage, func(text string) (*metric.Value, error) {
		usd, err := number(text)
		if err == nil && usd.Sign() <= 0 {
			err = errors.New("give a number above 0")
		}
		return usd, err
	})
}

// parsed is a flag whose text is read where the command line is; one that is empty is as if it
// were not given.
func parsed[T any](cmd *cobra.Command, to *T, name, usage string, read func(string) (T, error)) {
	cmd.Flags().Func(name, usage, func(text string) (err error) {
		if text != "" {
			*to, err = read(text)
		}
		return err
	})
}

// number reads a number from a flag.
func number(text string) (*metric.Value, error) {
	value, err := metric.ParseValue(text)
	return &value, err
}

// nowFlag is the time to schedule at.
func (a *App) nowFlag(cmd *cobra.Command) {
	parsed(cmd, &a.At, "now", "the `TIME` to look at (RFC 3339; default: the clock)",
		func(text string) (time.Time, error) {
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				err = errors.New("give a time such as 2026-01-31T15:04:05Z")
			}
			return at, err
		})
}

// jsonFlag prints for programs.
func (a *App) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.JSON, "json", false, "print JSON")
}

// yesFlag does it without asking.
func (a *App) yesFlag(cmd *cobra.Command, usage string) {
	cmd.Flags().BoolVarP(&a.Yes, "yes", "y", false, usage)
}

// run is a command that needs its arguments alone.
func run(do func(context.Context, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error { return do(cmd.Context(), args) }
}

// takesProgram matches the use of a command whose first argument is a program.
var takesProgram = lazyregexp.New(`^\S+ \[?(?:PROGRAM\b|PATH…)`)

// addCompletion completes the names of programs, in a command and those below it.
func (a *App) addCompletion(cmd *cobra.Command) {
	programs := func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 && !strings.Contains(cmd.Use, "…") || a.look(cmd.Context()) != nil {
			return nil, cobra.ShellCompDirectiveDefault // after a program comes something else
		}
		all, _ := a.source().Load(false)
		return program.Names(all), cobra.ShellCompDirectiveDefault // files too
	}
	if takesProgram().MatchString(cmd.Use) {
		cmd.ValidArgsFunction = programs
	}
	if cmd.LocalFlags().Lookup("program") != nil {
		_ = cmd.RegisterFlagCompletionFunc("program", programs) // its error is a flag that is not there
	}
	for _, sub := range cmd.Commands() {
		a.addCompletion(sub)
	}
}
