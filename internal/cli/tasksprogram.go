package cli

import (
	"context"

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
	if repo, err := app.OpenRepo(ctx, env, o.RepoDir); err == nil {
		root = repo.Root
	}
	o.Take(p, root, flags.Changed)
	return nil
}
