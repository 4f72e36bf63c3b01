package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/skill/workspace"
	"github.com/org/autoloop/internal/tasks/taskrun"
)

// choose settles who works: the flag's agent, a command that was given, the
// environment's agent, and in Actions a model. Else it is misuse, and the error
// lists who could.
func (o *skillEvalOptions) choose(ctx context.Context, env Env, role string) error {
	o.agent = taskrun.AgentOf(o.agent)
	switch {
	case o.agent != "":
	case o.command != "":
		o.agent = "command"
	case env.Getenv("AUTOLOOP_AGENT") != "":
		o.agent = env.Getenv("AUTOLOOP_AGENT")
	case env.InActions():
		o.agent = "models"
	default:
		found, err := readyAgents(ctx, env)
		if err != nil {
			return err
		}
		return misuse.Errorf("say %s with --agent, or give a command with --agent-command; %s", role, found)
	}
	return nil
}

// readyAgents says which agents could work here.
func readyAgents(ctx context.Context, env Env) (string, error) {
	registry := app.NewRegistry(env, env.NewRunner(), process.NewMasker(env.Environ))
	found, err := registry.Survey(ctx, agent.Situation{Env: env.Environ, Dir: env.Dir})
	if err != nil {
		return "", err
	}
	var ready []string
	for _, one := range found {
		if stateOf(one) == "ready" && !slices.Contains(ofPrograms, one.Name) {
			ready = append(ready, one.Name)
		}
	}
	return "ready here: " + cmp.Or(strings.Join(ready, ", "), "none") + " (`iterate agents` says what each lacks)", nil
}

// sayWhatChanged warns that a workspace is of an earlier state of its skill,
// before anything is spent on it.
func (o *skillRunOptions) sayWhatChanged(ctx context.Context, env Env, w *workspace.Workspace) error {
	original, err := keptVersion(ctx, w, 0)
	if err != nil {
		return err
	}
	now, err := workspace.Scan(ctx, w.Skill)
	if err != nil {
		return fmt.Errorf("read the skill: %w", err)
	}
	a := &application{env: env, workspace: w, original: original, now: workspace.Kept{Dir: w.Skill, Tree: now}}
	if !a.untouched(ctx) && !a.isVersion(ctx) {
		fmt.Fprintf(env.Stderr, "warning: %s changed since v0 of %s, and this run goes on without that; begin with the skill as it is with --fresh\n", w.Skill, w.Dir)
	}
	return nil
}
