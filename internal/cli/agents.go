package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
)

// Agents takes the flag's agent, else the program's agents or agent, else
// the environment's, else the tuner where target files have marks, the program's
// own command, or in Actions a model. Each has its own model, else the program's.
func (d *dependencies) Agents(ctx context.Context, p *program.Program,
	runner *process.Runner,
) ([]loop.Proposer, error) {
	env := d.Env
	registry := newRegistry(env, runner, process.NewMasker(env.Environ))
	files, err := d.TrackedFiles(ctx)
	if err != nil {
		return nil, err
	}
	matcher := p.Matcher()
	targets := slices.DeleteFunc(files, func(path string) bool { return !matcher.Allows(path) })
	situation := agent.Situation{Env: env.Environ, Command: p.AgentCommand, Dir: d.Repo.Root, Targets: targets}
	if named := d.namedAgents(p); len(named) > 0 {
		chosen := make([]loop.Proposer, len(named))
		for i, one := range named {
			chosen[i].Model = cmp.Or(d.Options.Model, one.Model, p.Model)
			chosen[i].Agent, err = registry.Ready(ctx, one.Agent, situation)
			if err != nil && ctx.Err() == nil {
				err = misuse.New(err)
			}
			if err != nil {
				return nil, err
			}
			if asks, ok := chosen[i].Agent.(*agent.Models); ok && cmp.Or(chosen[i].Model, asks.Endpoint.Model) == "" {
				return nil, misuse.Errorf("agent %s needs the name of a model: give --model, or `model:` in the "+
					"program file", one.Agent)
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
	return nil, misuse.Errorf("no agent can propose changes for %s: %s; name another with --agent (`iterate doctor` "+
		"lists them)", p.Name, strings.Join(missing, "; "))
}

// namedAgents are the agents that somebody asked for, the most particular word
// first.
func (d *dependencies) namedAgents(p *program.Program) []program.Proposer {
	switch {
	case d.Options.Agent != "":
		return []program.Proposer{{Agent: d.Options.Agent}}
	case d.Options.AgentCommand != "":
		return []program.Proposer{{Agent: "command"}}
	case len(p.Agents) > 0:
		return p.Agents
	}
	if name := cmp.Or(p.Agent, d.Env.Getenv("AUTOLOOP_AGENT")); name != "" {
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
