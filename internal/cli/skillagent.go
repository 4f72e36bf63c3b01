package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
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
