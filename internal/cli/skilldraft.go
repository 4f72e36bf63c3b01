package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/evals"
)

// skillDraft has an agent draft or repair suites, in a copy of the skill.
type skillDraft struct {
	agent, command, model, file, triggers string
	env                                   []string
	timeout                               time.Duration
}

func (o *skillDraft) register(flags *pflag.FlagSet) {
	flags.StringVar(&o.agent, "agent", "", "who drafts or repairs the suite when anything is found")
	flags.StringVar(&o.command, "agent-command", "", "the command of the agent `command`")
	flags.StringVar(&o.model, "model", "", "the model that the agent uses")
	flags.StringVar(&o.file, "draft", "", "the new `file` for a draft of evals.json (default: PATH-evals.json)")
	flags.StringVar(&o.triggers, "draft-triggers", "", "the new `file` for a draft of trigger-eval.json (default: PATH-trigger-eval.json)")
	flags.StringSliceVar(&o.env, "env", nil, "variables that the agent may see")
	flags.DurationVar(&o.timeout, "timeout", 30*time.Minute, "what the agent has")
}

// draft has the agent answer what was found, and returns the drafts and what is
// still found in them.
func (o *skillDraft) draft(ctx context.Context, env Env, dir string, found []string) ([]skill.Draft, []evals.Finding, error) {
	dir = filepath.Clean(env.Path(dir))
	drafts := []skill.Draft{
		{Name: evals.File, File: env.Path(cmp.Or(o.file, dir+"-evals.json")), Flag: "--draft"},
		{Name: evals.TriggerFile, File: env.Path(cmp.Or(o.triggers, dir+"-trigger-eval.json")), Flag: "--draft-triggers"},
	}
	run, remove, err := tree.NewRunDir(env.TempDir())
	if err != nil {
		return nil, nil, err
	}
	defer remove()
	return skill.MakeDrafts(ctx, dir, run, drafts, found, func(ctx context.Context, work, prompt string) error {
		return o.propose(ctx, env, run, work, prompt)
	})
}

// propose lets the agent work on the copy.
func (o *skillDraft) propose(ctx context.Context, env Env, run, work, prompt string) error {
	name := cmp.Or(o.agent, "command")
	finder := skillRunOptions{skillEvalOptions: skillEvalOptions{agent: name}}
	worker, text, err := finder.improver(ctx, env, &program.Program{File: "iterate skill doctor", AgentCommand: o.command, Isolation: "auto", Network: true}, run)
	if err != nil {
		return err
	}
	home := filepath.Join(run, "home")
	environ, err := env.CommandEnviron(home, o.env)
	if err != nil {
		return err
	}
	reply, err := worker.Propose(ctx, agent.Request{
		Dir: work, Prompt: prompt, Env: environ, Home: home, Timeout: o.timeout, Model: o.model, Command: text,
		IsTarget: func(path string) bool { return path == evals.File || path == evals.TriggerFile }, Targets: []string{evals.File, evals.TriggerFile},
		Direction: metric.Higher, Iteration: 1, Seed: 1,
	})
	if err == nil && reply.Failure != nil {
		err = fmt.Errorf("the agent: %w", reply.Failure)
	}
	return err
}
