package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/schedule"
)

// Scheduler runs the `scheduler` binary and returns its exit code.
func Scheduler(ctx context.Context, env Env) int {
	env.BoundMemory(app.Ample)
	env = env.EscapeLog()
	return Run(ctx, env, newSchedulerCommand(env))
}

// schedulerOptions are the flags of `scheduler`.
type schedulerOptions struct {
	repoDir, programs, dir, out, program, now, shard string
	max                                              int
	compat, json                                     bool
	app.GitHub
}

func newSchedulerCommand(env Env) *cobra.Command {
	var o schedulerOptions
	cmd := &cobra.Command{
		Use:   "scheduler",
		Short: "Pick the most overdue program and write autoloop.json",
		Long: "Read all program files and their states, pick the program that is most overdue, and write the\n" +
			"choice to autoloop.json for `iterate` and for workflows. Nothing else is changed.",
		Example: "  scheduler\n  scheduler --program speed          # whatever its schedule\n  scheduler --max 4                  # a matrix of up to four programs\n" +
			"  scheduler status\n  scheduler validate\n  scheduler new speed",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return selectProgram(cmd.Context(), env, o) },
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&o.repoDir, "repo-dir", "", "the repository (default: here)")
	flags.StringVar(&o.programs, "programs", "", "directory of program files (default: .autoloop/programs)")
	flags.StringVar(&o.dir, "dir", "", "working directory of autoloop.json and repo-memory (default: AUTOLOOP_DIR, else /tmp/gh-aw in Actions and with --compat, else autoloop in XDG_STATE_HOME or ~/.local/state)")
	flags.StringVar(&o.now, "now", "", "the time to schedule at (RFC 3339; default: the clock)")
	githubFlags(flags, &o.GitHub)
	cmd.Flags().StringVar(&o.out, "out", "", "write the choice to this file (default: autoloop.json in --dir)")
	cmd.Flags().StringVar(&o.program, "program", env.Actions().RequestedProgram(), "run this program, whatever its schedule (default: AUTOLOOP_PROGRAM)")
	cmd.Flags().IntVar(&o.max, "max", 1, "how many due programs the matrix may hold")
	cmd.Flags().StringVar(&o.shard, "shard", "", "select from part I of N of the programs, as I/N")
	cmd.Flags().BoolVar(&o.compat, "compat", false, "exit codes and output of the original scheduler")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the choice as JSON too")
	explained := newExplainCommand(env)
	explained.Example = strings.ReplaceAll(explained.Example, "iterate ", "scheduler ")
	cmd.AddCommand(explained)
	cmd.AddCommand(programCommands(env, &o)...)
	return cmd
}

// programCommands are about all programs, and in both binaries.
func programCommands(env Env, o *schedulerOptions) []*cobra.Command {
	return []*cobra.Command{newStatusCommand(env, o), newValidateCommand(env, o), newKeysCommand(env), newNewCommand(env, o), newPruneCommand(env, o)}
}

// newProgramCommands are those of the scheduler as commands of `iterate`.
func newProgramCommands(env Env, parent *iterateOptions) []*cobra.Command {
	var o schedulerOptions
	list := programCommands(env, &o)
	for _, cmd := range list {
		cmd.Example = strings.ReplaceAll(cmd.Example, "scheduler ", "iterate ")
		cmd.Flags().StringVar(&o.dir, "dir", "", "where autoloop.json is (default: AUTOLOOP_DIR, else /tmp/gh-aw in Actions, else autoloop in XDG_STATE_HOME or ~/.local/state)")
		cmd.Flags().StringVar(&o.now, "now", "", "the time to look at (RFC 3339; default: the clock)")
		githubFlags(cmd.Flags(), &o.GitHub)
		work := cmd.RunE
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			o.repoDir, o.programs = parent.RepoDir, parent.Programs
			return work(cmd, args)
		}
	}
	return list
}

// root is the checkout that is looked at, and its repository; repo is nil
// outside of git.
func (o schedulerOptions) root(ctx context.Context, env Env) (root string, repo *git.Repo, err error) {
	dir := o.repoDir
	if dir == "" {
		dir = env.Dir
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(env.Dir, dir)
	}
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

// outputDir is where autoloop.json is.
func (o schedulerOptions) outputDir(env Env) (string, error) {
	if o.compat {
		return env.CompatDir(o.dir)
	}
	return env.OutputDir(o.dir)
}

// uncommitted is what iterations do not see of the checkout.
func (o schedulerOptions) uncommitted(ctx context.Context, env Env) app.Uncommitted {
	_, repo, err := o.root(ctx, env)
	if err != nil || env.InActions() {
		return app.Uncommitted{}
	}
	return app.FindUncommitted(ctx, repo, o.programs)
}

func (o schedulerOptions) time(env Env) (time.Time, error) {
	if o.now == "" {
		return env.Now().UTC(), nil
	}
	now, err := time.Parse(time.RFC3339, o.now)
	if err != nil {
		return now, misuse.Errorf("--now %q is no time such as 2026-01-31T15:04:05Z", o.now)
	}
	return now.UTC(), nil
}

// input reads everything that scheduling looks at.
func (o schedulerOptions) input(ctx context.Context, env Env, hub *api.Client) (schedule.Input, error) {
	now, err := o.time(env)
	if err != nil {
		return schedule.Input{}, err
	}
	root, repo, err := o.root(ctx, env)
	if err != nil {
		return schedule.Input{}, err
	}
	programs, err := memory.Programs{Root: root, Dir: o.programs, Parse: program.ParseHead}.Load(false)
	if err != nil {
		return schedule.Input{}, misuse.New(err)
	}
	in := schedule.Input{Programs: programs, Now: now, Forced: o.program, Max: o.max, Stopped: env.Stopped(), RepoDir: root}
	output, err := o.outputDir(env)
	if err != nil {
		return schedule.Input{}, err
	}
	states := memory.States{Dir: filepath.Join(output, "repo-memory", "autoloop")}
	if repo != nil {
		states.Branch = &memory.Memory{Repo: repo, Now: env.Now}
	}
	if in.States, in.Unreadable, err = loadStates(ctx, &states, program.Names(programs)); err != nil {
		return schedule.Input{}, err
	}
	deps := &app.Deps{Env: env, Options: app.Options{GitHub: o.GitHub, Programs: o.programs}, GitHub: hub, Repo: repo}
	in.Refusals, in.Alive = deps.Refusals(ctx, root), env.HolderAlive
	if hub != nil { // a run that was cancelled holds its lease until it is asked for
		in.Alive = env.HolderAliveOn(ctx, hub)
	}
	if states.OnBranch() {
		in.Branch = memory.MemoryBranch
	}
	in.Ledger = func(name string) (*history.Log, error) { return states.Ledger(ctx, name) }
	in.Warnings = states.Warnings
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
		in.Stopped = app.RepositoryStopped(ctx, hub)
	}
	return nil
}

// addSelected adds what is known of the selected program alone: where the text
// of an issue program is, and the pull request that is open.
func (o schedulerOptions) addSelected(ctx context.Context, env Env, hub *api.Client, in schedule.Input, plan *schedule.Plan) error {
	dir, err := o.outputDir(env)
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
		file := filepath.Join(dir, "issue-programs", *plan.Selected+".md")
		plan.SelectedFile = &file
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

// loadStates reads all states at once. When files of the checked-out copy
// cannot be read, it finds out whose, so that the others still run.
func loadStates(ctx context.Context, states *memory.States, names []string) (found map[string][]byte, failed map[string]error, err error) {
	found, err = states.Load(ctx, names)
	if _, single := err.(interface{ Unwrap() []error }); err == nil || !single {
		return found, states.Unreadable, err
	}
	warnings := states.Warnings
	failed = map[string]error{}
	for _, name := range names {
		if _, read := found[name]; read {
			continue
		}
		if _, err := states.Load(ctx, []string{name}); err != nil {
			failed[name] = err
		}
	}
	states.Warnings = warnings
	return found, failed, nil
}

func selectProgram(ctx context.Context, env Env, o schedulerOptions) error {
	env.BoundMemory(app.Lean)
	if o.max < 1 {
		return misuse.Errorf("--max %d: give at least one", o.max)
	}
	if o.compat {
		if err := compatTemplate(ctx, env, o); err != nil {
			return err
		}
	}
	shard, err := parseShard(o.shard)
	if err != nil {
		return err
	}
	hub, err := o.Client(env)
	if err != nil {
		return err
	}
	in, err := o.input(ctx, env, hub)
	if err != nil {
		return err
	}
	if o.compat && hub == nil && o.Repository(env) != "" && env.Token() != "" {
		in.Warnings = append(in.Warnings, fmt.Sprintf("could not fetch issue-based programs: %q is no repository", o.Repository(env)))
	}
	in.Shard = shard
	plan, forced := schedule.Choose(in)
	if hub != nil {
		if err := o.addSelected(ctx, env, hub, in, plan); err != nil {
			return err
		}
	}
	if o.compat {
		compatPlan(plan)
	}
	file, err := writePlan(env, o, plan)
	if err != nil {
		return err
	}
	if err := env.Actions().ReportPlan(plan, file); err != nil {
		return err
	}
	if o.compat {
		return compatEnd(env, in, plan, forced)
	}
	if forced != nil {
		return misuse.New(forced)
	}
	if o.json {
		encoder := json.NewEncoder(env.Stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(plan)
	}
	printPlan(env, plan, file)
	return nil
}

// writePlan writes autoloop.json whole or not at all.
func writePlan(env Env, o schedulerOptions, plan *schedule.Plan) (string, error) {
	file := env.Path(o.out)
	if o.out == "" {
		dir, err := o.outputDir(env)
		if err != nil {
			return "", err
		}
		if err := files.MakeTrusted(dir, 0o755); err != nil {
			return "", misuse.New(err)
		}
		file = filepath.Join(dir, schedule.PlanFile)
	}
	text, err := json.MarshalIndent(plan, "", "  ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", fmt.Errorf("write %s: %w", file, err)
	}
	if err := files.WriteFile(file, append(text, '\n'), 0o644); err != nil {
		return "", fmt.Errorf("write %s: %w", file, err)
	}
	return file, nil
}

func printPlan(env Env, plan *schedule.Plan, file string) {
	out := env.Stdout
	fmt.Fprintln(out, plan.Headline())
	if len(plan.Deferred) > 0 {
		fmt.Fprintf(out, "due later: %s\n", render.Few(plan.Deferred))
	}
	printSkipped(env, plan)
	for _, name := range plan.Unconfigured {
		fmt.Fprintf(out, "unconfigured: %s: replace its placeholders\n", name)
	}
	for _, failure := range plan.Errors {
		fmt.Fprintf(out, "error: %s: %s\n", failure.Name, failure.Place())
	}
	for _, warning := range plan.Warnings {
		fmt.Fprintln(env.Stderr, "warning:", warning)
	}
	fmt.Fprintf(out, "written: %s\n", file)
}

// printSkipped gives every program that a person could do something about, and
// of those that only wait for their time the first few.
func printSkipped(env Env, plan *schedule.Plan) {
	const most = 20
	waiting := 0
	for _, skipped := range plan.Skipped {
		if skipped.Reason != string(schedule.NotDue)+" yet" {
			fmt.Fprintf(env.Stdout, "skipped: %s: %s\n", skipped.Name, skipped.Reason)
			continue
		}
		if waiting++; waiting <= most {
			fmt.Fprintf(env.Stdout, "skipped: %s: %s%s\n", skipped.Name, skipped.Reason, until(skipped, plan.GeneratedAt))
		}
	}
	if waiting > most {
		fmt.Fprintf(env.Stdout, "skipped: %d more that are not due yet\n", waiting-most)
	}
}

// until says in how much time a program is due.
func until(s schedule.Skipped, now time.Time) string {
	if s.NextDue == nil {
		return ""
	}
	return " (in " + schedule.Round(s.NextDue.Sub(now)) + ")"
}
