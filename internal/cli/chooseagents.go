package cli

import (
	"cmp"
	"context"
	"strings"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
)

// chooseAgents takes the flag's agent, else the program's agents or agent, else
// the environment's, else the tuner where target files have marks, the program's
// own command, or in Actions a model. Each has its own model, else the program's.
func chooseAgents(ctx context.Context, env Env, o iterateOptions, repo *git.Repo, p *program.Program, runner *process.Runner) ([]loop.Proposer, error) {
	registry := newRegistry(env, runner, process.NewMasker(env.Environ))
	targets, err := targetFiles(ctx, repo, p)
	if err != nil {
		return nil, err
	}
	situation := agent.Situation{Env: env.Environ, Command: p.AgentCommand, Dir: repo.Root, Targets: targets}
	if named := namedAgents(env, o, p); len(named) > 0 {
		chosen := make([]loop.Proposer, len(named))
		for i, one := range named {
			chosen[i].Model = cmp.Or(o.model, one.Model, p.Model)
			chosen[i].Agent, err = registry.Ready(ctx, one.Agent, situation)
			if err != nil && ctx.Err() == nil {
				err = &UsageError{err}
			}
			if err != nil {
				return nil, err
			}
		}
		return chosen, nil
	}
	var missing []string
	unasked := []string{"tuner", "command"}
	if env.InActions() {
		unasked = append(unasked, "models")
	}
	for _, found := range unasked {
		chosen, err := registry.Usable(found, situation)
		if err == nil {
			return []loop.Proposer{{Agent: chosen, Model: p.Model}}, nil
		}
		missing = append(missing, err.Error())
	}
	return nil, Usagef("no agent can propose changes for %s: %s; name another with --agent (`iterate agents` lists them)", p.Name, strings.Join(missing, "; "))
}

// namedAgents are the agents that somebody asked for, the most particular word
// first.
func namedAgents(env Env, o iterateOptions, p *program.Program) []program.Proposer {
	switch {
	case o.agent != "":
		return []program.Proposer{{Agent: o.agent}}
	case len(p.Agents) > 0:
		return p.Agents
	}
	if name := cmp.Or(p.Agent, env.Getenv("AUTOLOOP_AGENT")); name != "" {
		return []program.Proposer{{Agent: name}}
	}
	return nil
}

// newRegistry holds every agent that this binary knows.
func newRegistry(env Env, runner *process.Runner, masker process.Masker) *agent.Registry {
	agents := []agent.Agent{&agent.Command{Runner: runner, Masker: masker}, agent.Tuner{}, modelsAgent(env, masker)}
	return agent.NewRegistry(append(agents, agent.CommandLines(commandline.All(), runner, env.Environ, env.Now)...)...)
}

// modelsAgent asks the endpoint that the environment names.
func modelsAgent(env Env, masker process.Masker) *agent.Models {
	endpoint, lacks := models.EndpointFrom(env.Getenv)
	if env.Complete == nil {
		lacks = "this binary asks no model"
	}
	return &agent.Models{Complete: env.Complete, Endpoint: endpoint, Lacks: lacks, Now: env.Now, Masker: masker}
}
