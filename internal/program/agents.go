package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/org/autoloop/internal/agent/commandline"
)

// knownAgents are those of this version; another name is an error, as it is where an agent is asked.
var knownAgents = sync.OnceValue(func() []string {
	return slices.Concat([]string{"command"}, commandline.All().Names(), []string{"models", "tuner"})
})

func setAgent(p *Program, v value) (err error) {
	p.Agent, err = p.agentName(v)
	return err
}

const agentsForm = "give a list of agents, as in `[claude, {agent: codex, model: gpt-5}]`"

// setAgents reads a list of names, or of agents with a model each.
func setAgents(p *Program, v value) error {
	if v.kind != list || len(v.items) == 0 {
		return errors.New(agentsForm)
	}
	for _, item := range v.items {
		proposer, err := p.proposer(item)
		if err != nil {
			return fault{item.line, err}
		}
		p.Agents = append(p.Agents, proposer)
	}
	return nil
}

func (p *Program) proposer(v value) (one Proposer, err error) {
	switch v.kind {
	case list, null:
		return one, errors.New(agentsForm)
	case mapping:
	default:
		one.Agent, err = p.agentName(v)
		return one, err
	}
	given := map[string]bool{}
	for _, f := range v.fields {
		if given[f.key] {
			return one, fmt.Errorf("`%s` is given twice; keep one", f.name)
		}
		given[f.key] = true
		switch f.key {
		case "agent":
			one.Agent, err = p.agentName(f.value)
		case "model":
			one.Model, err = f.oneLine("the name of a model")
		default:
			p.unknown(f, " of an agent", "agent", "model")
		}
		if err != nil {
			return one, fmt.Errorf("`%s`: %w", f.name, err)
		}
	}
	if one.Agent == "" {
		return one, fmt.Errorf("it names no `agent`; %s", agentsForm)
	}
	return one, nil
}

func (p *Program) agentName(v value) (string, error) {
	name, err := v.oneLine("the name of an agent: " + strings.Join(knownAgents(), ", "))
	if err != nil {
		return "", err
	}
	if !slices.Contains(knownAgents(), name) {
		return "", fmt.Errorf("`%s` is no agent known here; known are %s", clip(name),
			strings.Join(knownAgents(), ", "))
	}
	return name, nil
}
