package cli

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
)

// App is one run of a binary: what it takes from the process around it, the flags that
// several commands have, and what its command has opened. Every command is a method of it.
type App struct {
	Env

	// Repository is owner/name on GitHub; "" leaves it to the environment. Local leaves out
	// remote and GitHub, whatever the environment says.
	Repository string
	Local      bool
	// RepoDir is the checkout, "" where the user is. Programs has its program
	// files, "" is the usual place.
	RepoDir, Programs string
	// Output is where autoloop.json is; "" leaves it to the environment. Compat prefers the
	// directory of the original scheduler.
	Output string
	Compat bool
	// Program is the program that was asked for, by its name or its file; "" is the
	// scheduler's choice.
	Program string
	// At is the time to schedule at; zero is the clock's.
	At time.Time
	// Remote shares branches and history; "" is origin where GitHub is used.
	Remote string
	// Agent and Model propose, CIWorkflow is started for what is pushed; "" leaves
	// them to the program.
	Agent, Model, CIWorkflow string
	// AgentCommand takes the place of the program's; without Agent, the agent is
	// `command` then.
	AgentCommand string
	// Base names the default branch; "" finds it out.
	Base string
	// Force iterates although the program is paused or completed.
	Force bool
	// BudgetUSD bounds what a run may cost; nil is no bound.
	BudgetUSD *metric.Value
	// Settings is a program file with what a suite is run with, Judge who grades.
	Settings, Judge string
	// JSON prints for programs instead of people, Yes does without asking.
	JSON, Yes bool

	// GitHub is nil when it is left out.
	GitHub *api.Client
	// Checkout is the directory that is worked on. Repo is its repository, nil where the
	// command can do without one and the directory has none.
	Checkout string
	Repo     *git.Repo
	// Memory is the memory branch, shared by the remote when there is one.
	Memory *memory.Memory
	// RunDir is a private directory for the trees of this run; "" before openRun.
	RunDir string

	issue    *api.Issue // of the program that is selected, when it is one
	removals []func()
}

// gitRemote is the remote that branches and history are shared with: the one
// that is named, else in Actions and with a repository on GitHub origin; "" for
// none.
func (a *App) gitRemote() string {
	switch {
	case a.Local:
		return ""
	case a.Remote != "":
		return a.Remote
	case a.InActions(), a.repository() != "" && a.Token() != "":
		return "origin"
	default:
		return ""
	}
}

// open opens the repository, GitHub and the memory branch.
func (a *App) open(ctx context.Context) (err error) {
	if a.GitHub, err = a.client(); err != nil {
		return err
	}
	if err = a.openRepo(ctx); err != nil {
		return err
	}
	if err = a.setIdentity(); err != nil {
		return err
	}
	a.Repo.Settings = a.gitLogin()
	a.Memory.Remote = a.gitRemote()
	a.Program = a.nameOf(a.Program)
	return nil
}

// openRun is open with a directory for the trees of a run, also for what git writes.
func (a *App) openRun(ctx context.Context) (err error) {
	if err = a.open(ctx); err == nil {
		a.RunDir, err = a.newRunDir(a.TempDir())
	}
	if err == nil {
		a.Repo.Temp = a.RunDir
	}
	return err
}

// look opens GitHub and the checkout, for commands that only look at programs: the
// directory need not be in a repository.
func (a *App) look(ctx context.Context) (err error) {
	if err = a.openRepo(ctx); err != nil && !errors.Is(err, git.ErrNotRepository) && !errors.Is(err, git.ErrNoGit) {
		return err
	}
	a.GitHub, err = a.client()
	return err
}

// openRepo opens the repository of the checkout.
func (a *App) openRepo(ctx context.Context) error {
	a.Checkout, a.Repo = a.Path(a.RepoDir), nil
	if info, err := os.Stat(a.Checkout); err != nil || !info.IsDir() {
		return misuse.Errorf("--repo-dir %s is no directory", a.Checkout)
	}
	repo, err := git.Open(ctx, a.Checkout, a.Environ)
	if errors.Is(err, git.ErrNotRepository) {
		return misuse.New(err)
	}
	if err != nil {
		return err
	}
	repo.Temp = a.TempDir()
	a.Checkout, a.Repo = repo.Root, repo
	a.Memory = &memory.Memory{Repo: a.Repo, Now: a.Now}
	return nil
}

// newRunDir makes a private directory below another, which close removes.
func (a *App) newRunDir(below string) (string, error) {
	dir, remove, err := tree.NewRunDir(below)
	if err == nil {
		a.removals = append(a.removals, remove)
	}
	return dir, err
}

// close removes what was made for this run alone.
func (a *App) close() {
	for _, remove := range a.removals {
		remove()
	}
}
