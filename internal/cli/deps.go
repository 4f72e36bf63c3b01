package cli

import (
	"context"
	"errors"
	"os"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/misuse"
)

// Options are the flags that say what a command works on.
type Options struct {
	GitHub

	// RepoDir is the repository, "" where the user is. Programs has its program
	// files, "" is the usual place.
	RepoDir, Programs string
	// Dir is where autoloop.json is; "" leaves it to the environment.
	Dir string
	// Program is the program that was asked for, by its name or its file; "" is the
	// scheduler's choice.
	Program string
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
	// BudgetUSD bounds what a run may cost; "" is no bound.
	BudgetUSD string
}

// GitRemote is the remote that branches and history are shared with: the one
// that is named, else in Actions and with a repository on GitHub origin; "" for
// none.
func (o Options) GitRemote(env Env) string {
	switch {
	case o.Local:
		return ""
	case o.Remote != "":
		return o.Remote
	case env.InActions(), o.Repository(env) != "" && env.Token() != "":
		return "origin"
	default:
		return ""
	}
}

// dependencies are the adapters that a command on a repository works with.
type dependencies struct {
	Env     Env
	Options Options
	// GitHub is nil when it is left out.
	GitHub *api.Client
	// Root is the checkout. Repo is its repository, nil where the command can do without
	// one and the directory has none.
	Root string
	Repo *git.Repo
	// Memory is the memory branch, shared by the remote when there is one.
	Memory *memory.Memory
	// RunDir is a private directory for the trees of this run; "" before
	// MakeRunDir.
	RunDir string
}

// openDeps opens the repository, GitHub and the memory branch.
func openDeps(ctx context.Context, env Env, o Options) (*dependencies, error) {
	client, err := o.Client(env)
	if err != nil {
		return nil, err
	}
	who, err := identity(env)
	if err != nil {
		return nil, err
	}
	repo, err := openRepo(ctx, env, o.RepoDir, append(who, gitLogin(env, client)...)...)
	if err != nil {
		return nil, err
	}
	d := &dependencies{
		Env: env, Options: o, GitHub: client, Root: repo.Root, Repo: repo,
		Memory: &memory.Memory{Repo: repo, Remote: o.GitRemote(env), Now: env.Now},
	}
	d.Options.Program = d.NameOf(o.Program)
	return d, nil
}

// openRun is openDeps with a directory for the trees of a run; remove removes it.
func openRun(ctx context.Context, env Env, o Options) (d *dependencies, remove func(), err error) {
	if d, err = openDeps(ctx, env, o); err == nil {
		remove, err = d.MakeRunDir()
	}
	return d, remove, err
}

// openCheckout opens GitHub and the checkout, for commands that only look at programs.
func openCheckout(ctx context.Context, env Env, o Options) (*dependencies, error) {
	root, repo, err := findCheckout(ctx, env, o.RepoDir)
	if err != nil {
		return nil, err
	}
	client, err := o.Client(env)
	return &dependencies{
		Env: env, Options: o, GitHub: client, Root: root, Repo: repo, Memory: &memory.Memory{Repo: repo, Now: env.Now},
	}, err
}

// findCheckout is the checkout of a flag, and its repository; repo is nil outside of git.
func findCheckout(ctx context.Context, env Env, dir string) (root string, repo *git.Repo, err error) {
	dir = env.Path(dir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", nil, misuse.Errorf("--repo-dir %s is no directory", dir)
	}
	repo, err = git.Open(ctx, dir, env.Environ)
	switch {
	case errors.Is(err, git.ErrNotRepository), errors.Is(err, git.ErrNoGit):
		return dir, nil, nil
	case err != nil:
		return "", nil, err
	}
	return repo.Root, repo, nil
}

// openRepo opens the repository of a flag; "" is the one that the user is in.
func openRepo(ctx context.Context, env Env, dir string, options ...git.Option) (*git.Repo, error) {
	dir = env.Path(dir)
	if _, err := os.Stat(dir); err != nil {
		return nil, misuse.Errorf("--repo-dir %s does not exist", dir)
	}
	repo, err := git.Open(ctx, dir, env.Environ, options...)
	if errors.Is(err, git.ErrNotRepository) {
		return nil, misuse.New(err)
	}
	if err != nil {
		return nil, err
	}
	return repo.WithTemp(env.TempDir()), nil
}

// MakeRunDir makes the directory for the trees of this run. What it returns
// removes the directory.
func (d *dependencies) MakeRunDir() (remove func(), err error) {
	if d.RunDir, remove, err = tree.NewRunDir(d.Env.TempDir()); err != nil {
		return nil, err
	}
	d.Repo = d.Repo.WithTemp(d.RunDir)
	d.Memory = &memory.Memory{Repo: d.Repo, Remote: d.Memory.Remote, Now: d.Env.Now}
	return remove, nil
}
