package cli

import (
	"context"
	"path/filepath"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
)

// fill takes from the program file of --program what no flag says.
func (o *tasksOptions) fill(ctx context.Context, env Env, flags *pflag.FlagSet) error {
	name := o.output.thresholds.program
	if name == "" {
		return nil
	}
	p := memory.Programs{Parse: program.Parse}.File(env.Path(name))
	if err := p.Err(); err != nil {
		return misuse.New(err)
	}
	if p.Evaluation != program.Tasks {
		return misuse.Errorf("%s: its evaluation is `%s`; a program with `tasks` is needed", name, p.Evaluation)
	}
	root := env.Dir
	if repo, err := app.OpenRepo(ctx, env, o.repository()); err == nil {
		root = repo.Root
	}
	o.take(p, root, flags.Changed)
	return nil
}

// take takes from a program, whose paths are relative to root, what was not
// given as a flag.
func (o *tasksOptions) take(p *program.Program, root string, given func(flag string) bool) {
	loop := taskLoop{program: p, root: root, agent: p.Agent}
	runs := "auto"
	if p.Runs > 0 {
		runs = strconv.Itoa(p.Runs)
	}
	for _, text := range []struct {
		flag, value string
		to          *string
	}{
		{"suite", filepath.Join(root, filepath.FromSlash(p.Tasks)), &o.suite},
		{"agent", loop.executor(), &o.agent},
		{"model", p.Model, &o.model},
		{"agent-command", loop.command(), &o.command},
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
		o.targets = program.Texts(p.Targets)
	}
}
