package cli

import (
	"context"
	"path/filepath"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/store"
)

// fill takes from the program file of --program what no flag says.
func (o *tasksOptions) fill(ctx context.Context, env Env, flags *pflag.FlagSet) error {
	name := o.output.thresholds.program
	if name == "" {
		return nil
	}
	p := store.Programs{Parse: program.Parse}.File(env.path(name))
	if err := p.Err(); err != nil {
		return &UsageError{err}
	}
	if p.Evaluation != program.Tasks {
		return Usagef("%s: its evaluation is `%s`; a program with `tasks` is needed", name, p.Evaluation)
	}
	o.take(p, o.inRepository(ctx, env, p.Tasks), flags.Changed)
	return nil
}

// take takes from a program, whose suite is in a directory, what was not given
// as a flag.
func (o *tasksOptions) take(p *program.Program, suite string, given func(flag string) bool) {
	runs := "auto"
	if p.Runs > 0 {
		runs = strconv.Itoa(p.Runs)
	}
	for _, text := range []struct {
		flag, value string
		to          *string
	}{
		{"suite", suite, &o.suite},
		{"agent", p.Agent, &o.agent},
		{"model", p.Model, &o.model},
		{"agent-command", p.AgentCommand, &o.command},
		{"judge", p.Judge, &o.judge},
		{"judge-model", p.JudgeModel, &o.judgeModel},
		{"isolation", p.Isolation, &o.isolation},
		{"runs", runs, &o.runs},
	} {
		if !given(text.flag) && text.value != "" {
			*text.to = text.value
		}
	}
	if !given("env") {
		o.env = p.Env
	}
	if !given("jobs") {
		o.jobs = p.Jobs
	}
	if !given("network") {
		o.network = p.Network
	}
	if !given("config") {
		o.targets = patternTexts(p.Targets)
	}
}

// inRepository is a path of a program file, which is relative to the
// repository's root.
func (o *tasksOptions) inRepository(ctx context.Context, env Env, path string) string {
	repo, err := openRepo(ctx, env, *o.repoDir)
	if err != nil || path == "" {
		return path
	}
	return filepath.Join(repo.Root, filepath.FromSlash(path))
}
