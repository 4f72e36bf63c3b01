package cli

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
)

// Scheduling is what the commands about all programs look at. Program is the one
// that runs whatever its schedule; "" is whichever is due.
type Scheduling struct {
	Options

	// Now is the time to schedule at (RFC 3339); "" is the clock's.
	Now string
	// Max bounds how many programs are selected.
	Max int
	// Compat uses the directory of the original scheduler.
	Compat bool
}

// notRepository is the error of a directory that has no programs and is in no
// repository: the user is in the wrong place.
func notRepository(dir string) error { return misuse.Errorf("%s: %w", dir, git.ErrNotRepository) }

// outputDir is where autoloop.json is.
func (s Scheduling) outputDir(env Env) (string, error) {
	if s.Compat {
		return env.CompatDir(s.Dir)
	}
	return env.OutputDir(s.Dir)
}

// Uncommitted is what iterations do not see of the checkout.
func (s Scheduling) Uncommitted(ctx context.Context, env Env) uncommittedWork {
	_, repo, err := findCheckout(ctx, env, s.RepoDir)
	if err != nil || env.InActions() {
		return uncommittedWork{}
	}
	return lookUncommitted(ctx, repo, s.Programs)
}

func (s Scheduling) time(env Env) (time.Time, error) {
	if s.Now == "" {
		return env.Now().UTC(), nil
	}
	now, err := time.Parse(time.RFC3339, s.Now)
	if err != nil {
		return now, misuse.Errorf("--now %q is no time such as 2026-01-31T15:04:05Z", s.Now)
	}
	return now.UTC(), nil
}

// Input reads everything that scheduling looks at.
func (s Scheduling) Input(ctx context.Context, env Env, hub *api.Client) (schedule.Input, error) {
	now, err := s.time(env)
	if err != nil {
		return schedule.Input{}, err
	}
	root, repo, err := findCheckout(ctx, env, s.RepoDir)
	if err != nil {
		return schedule.Input{}, err
	}
	deps := &dependencies{Env: env, Options: s.Options, GitHub: hub, Root: root, Repo: repo}
	programs, err := deps.Source().Load(false)
	if err != nil {
		return schedule.Input{}, misuse.New(err)
	}
	names := program.Names(programs)
	if repo == nil && hub == nil && len(names) == 0 && !s.Compat {
		return schedule.Input{}, notRepository(root)
	}
	in := schedule.Input{
		Now: now, Programs: programs, Forced: s.Program, Max: s.Max, Stopped: env.Stopped(),
		RepoDir: root,
	}
	output, err := s.outputDir(env)
	if err != nil {
		return schedule.Input{}, err
	}
	states := memory.States{Dir: filepath.Join(output, "repo-memory", "autoloop")}
	if repo != nil {
		states.Branch = &memory.Memory{Repo: repo, Now: env.Now}
	}
	in.States, in.Unreadable, err = states.Load(ctx, names)
	if err != nil {
		return schedule.Input{}, err
	}
	in.Refusals, in.Alive = deps.Refusals(ctx), env.HolderAlive
	if hub != nil { // a run that was cancelled holds its lease until it is asked for
		in.Alive = env.HolderAliveOn(ctx, hub)
	}
	if states.OnBranch() {
		in.Branch = memory.MemoryBranch
	}
	in.Ledger = func(name string) (*history.Log, error) { return states.Ledger(ctx, name) }
	in.Warnings = states.Warnings
	if !env.InActions() { // a checkout of Actions is as it was committed
		in.Warnings = append(in.Warnings, changedPrograms(ctx, repo, deps.Source())...)
	}
	if hub != nil {
		return in, addIssues(ctx, hub, &states, &in)
	}
	return in, nil
}

// addIssues adds the issue programs with their states, and the repository's
// word on whether anything may run.
func addIssues(ctx context.Context, hub *api.Client, states *memory.States, in *schedule.Input) error {
	others, err := states.Others(ctx, program.Names(in.Programs))
	if err != nil {
		return err
	}
	all := map[string][]byte{}
	maps.Copy(all, others)
	maps.Copy(all, in.States)
	if in.Issues, _, err = schedule.DiscoverIssues(ctx, hub, sync.ProgramLabel, in.Programs, all); err != nil {
		return err
	}
	if len(in.Issues.Programs) > 0 {
		in.Programs = slices.DeleteFunc(in.Programs, memory.Single)
	}
	in.Programs, in.States = append(in.Programs, in.Issues.Programs...), all
	if in.Stopped == "" {
		in.Stopped = repositoryStopped(ctx, hub)
	}
	return nil
}

// Plan decides what runs now; with all, whether it could is asked of every program.
func (s Scheduling) Plan(ctx context.Context, env Env, all bool) (*schedule.Plan, error) {
	client, err := s.Client(env)
	if err != nil {
		return nil, err
	}
	in, err := s.Input(ctx, env, client)
	if err != nil {
		return nil, err
	}
	in.All = all
	return schedule.Choose(in)
}

// NotDue says why a program is not to run now, in the scheduler's words; "" when it
// is due, or in error, which running it says. A job that waited for another one of
// the same program asks before it begins: what was due when it was started may be
// done by now.
func (s Scheduling) NotDue(ctx context.Context, env Env, name string) (string, error) {
	s.Program = "" // one that is asked for is always due
	plan, err := s.Plan(ctx, env, false)
	if err != nil {
		return "", err
	}
	for _, standing := range plan.Standings {
		if standing.Program.Name == name {
			return standing.Skip, nil
		}
	}
	return "", nil
}

// AddSelected adds what is known of the selected program alone: where the text
// of an issue program is, and the pull request that is open.
func (s Scheduling) AddSelected(ctx context.Context, env Env, hub *api.Client, in schedule.Input,
	plan *schedule.Plan,
) error {
	dir, err := s.outputDir(env)
	if err != nil {
		return err
	}
	if err := schedule.WriteIssuePrograms(dir, in.Issues.Programs); err != nil {
		return err
	}
	if plan.Selected == nil {
		return nil
	}
	if _, issue := plan.IssuePrograms[*plan.Selected]; issue {
		plan.SelectedFile = new(filepath.Join(dir, "issue-programs", *plan.Selected+".md"))
	}
	pull, err := schedule.OpenPull(ctx, hub, loop.BranchPrefix+*plan.Selected)
	if api.Reported(err) {
		return ctx.Err()
	}
	if err != nil {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("whether a pull request is open was not read: %v", err))
		return ctx.Err()
	}
	plan.ExistingPR = pull
	return nil
}

// WritePlan writes autoloop.json, whole or not at all, to a file, "" for the usual one.
func (s Scheduling) WritePlan(env Env, plan *schedule.Plan, out string) (file string, err error) {
	file = env.Path(out)
	if out == "" {
		dir, err := s.outputDir(env)
		if err != nil {
			return "", err
		}
		if err := files.MakeTrusted(dir, 0o755); err != nil {
			return "", misuse.New(err)
		}
		file = filepath.Join(dir, schedule.PlanFile)
	}
	return file, plan.Write(file)
}
