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

// agents takes the flag's agent, else the program's agents or agent, else
// the environment's, else the tuner where target files have marks, the program's
// own command, or in Actions a model. Each has its own model, else the program's.
func (a *App) agents(ctx context.Context, p *program.Program, runner *process.Runner) ([]loop.Proposer, error) {
	files, err := a.trackedFiles(ctx)
	if err != nil {
		return nil, err
	}
	request := a.requestFor(p, files)
	var chosen []loop.Proposer
	for _, one := range a.namedAgents(p) {
		found, err := a.ready(ctx, runner, one.Agent, request)
		if err != nil {
			return nil, err
		}
		model := cmp.Or(a.Model, one.Model, p.Model)
		if asks, ok := found.(*agent.Models); ok && cmp.Or(model, asks.Endpoint.Model) == "" {
			return nil, misuse.Errorf("agent %s needs the name of a model: give --model, or `model:` in the program file",
				one.Agent)
		}
		chosen = append(chosen, loop.Proposer{Agent: found, Model: model})
	}
	if len(chosen) > 0 {
		return chosen, nil
	}
	var missing []string
	unasked := []string{"tuner", "command"}
	if a.InActions() {
		unasked = append(unasked, "models")
	}
	for _, name := range unasked {
		found, err := a.registry(runner).Ready(ctx, name, request)
		if err == nil {
			return []loop.Proposer{{Agent: found, Model: p.Model}}, nil
		}
		missing = append(missing, err.Error())
	}
	return nil, misuse.Errorf("no agent can propose changes for %s: %s; name another with --agent (`iterate doctor` "+
		"lists them)", p.Name, strings.Join(missing, "; "))
}

// ready finds an agent that is going to work. That it cannot is the caller's mistake.
func (a *App) ready(ctx context.Context, runner *process.Runner, name string, request agent.Request) (agent.Agent,
	error,
) {
	found, err := a.registry(runner).Ready(ctx, name, request)
	if err != nil && ctx.Err() == nil {
		err = misuse.New(err)
	}
	return found, err
}

// requestFor asks agents about a program with these files: whether they could work on it.
func (a *App) requestFor(p *program.Program, files []string) agent.Request {
	targets := slices.DeleteFunc(slices.Clone(files), func(path string) bool { return !p.Allows(path) })
	return agent.Request{Command: p.AgentCommand, Dir: a.Checkout, Targets: targets}
}

// namedAgents are the agents that somebody asked for, the most particular word
// first.
func (a *App) namedAgents(p *program.Program) []program.Proposer {
	switch {
	case a.Agent != "":
		return []program.Proposer{{Agent: a.Agent}}
	case a.AgentCommand != "":
		return []program.Proposer{{Agent: "command"}}
	case len(p.Agents) > 0:
		return p.Agents
	}
	if name := cmp.Or(p.Agent, a.Getenv("AUTOLOOP_AGENT")); name != "" {
		return []program.Proposer{{Agent: name}}
	}
	return nil
}

// registry holds every agent that this binary knows.
func (a *App) registry(runner *process.Runner) agent.Registry {
	masker := process.NewMasker(a.Environ)
	endpoint, lacks := models.EndpointFrom(a.Getenv)
	if a.Complete == nil {
		lacks = "this binary asks no model"
	}
	// A model is asked at the endpoint that the environment names.
	asks := &agent.Models{Complete: a.Complete, Endpoint: endpoint, Lacks: lacks, Now: a.Now, Masker: masker}
	agents := agent.Registry{&agent.Command{Runner: runner, Masker: masker}, agent.Tuner{}, asks}
	return append(agents, agent.CommandLines(commandline.All(), runner, a.Environ, a.Now)...)
}
