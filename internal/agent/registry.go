package agent

import (
	"fmt"
	"strings"
)

// Situation is what decides whether an agent can be used here.
type Situation struct {
	// Env is the environment that the agent would get.
	Env []string
	// Command is the program's `agent-command`.
	Command string
	// Dir is a tree or checkout, and Targets the target files in it, relative
	// and with slashes.
	Dir     string
	Targets []string
}

// Prober is an Agent that knows whether it can be used. One that is no Prober
// always can.
type Prober interface {
	// Missing says what the agent lacks and how to get it; "" when nothing is
	// missing. It starts no process and uses no network.
	Missing(Situation) string
}

// Availability says whether one agent can be used.
type Availability struct {
	Name string
	// Missing is what it lacks; "" when it can be used.
	Missing string
}

// Registry holds the agents that this binary knows, in the order in which they
// are listed to people.
type Registry struct{ agents []Agent }

// NewRegistry returns a registry of agents; their names are distinct.
func NewRegistry(agents ...Agent) *Registry { return &Registry{agents: agents} }

// Names returns the names in order.
func (r *Registry) Names() []string {
	names := make([]string, len(r.agents))
	for i, agent := range r.agents {
		names[i] = agent.Name()
	}
	return names
}

// Lookup finds an agent by its name. The error lists the names.
func (r *Registry) Lookup(name string) (Agent, error) {
	for _, agent := range r.agents {
		if agent.Name() == name {
			return agent, nil
		}
	}
	return nil, fmt.Errorf("no agent is called %q (known: %s)", name, strings.Join(r.Names(), ", "))
}

// Usable finds an agent by its name and asks whether it can be used. The error
// says what is missing.
func (r *Registry) Usable(name string, situation Situation) (Agent, error) {
	agent, err := r.Lookup(name)
	if err != nil {
		return nil, err
	}
	if missing := missingOf(agent, situation); missing != "" {
		return nil, fmt.Errorf("agent %s cannot be used: %s", name, missing)
	}
	return agent, nil
}

// Survey says of every agent whether it can be used, in order.
func (r *Registry) Survey(situation Situation) []Availability {
	found := make([]Availability, len(r.agents))
	for i, agent := range r.agents {
		found[i] = Availability{Name: agent.Name(), Missing: missingOf(agent, situation)}
	}
	return found
}

func missingOf(agent Agent, situation Situation) string {
	if prober, ok := agent.(Prober); ok {
		return prober.Missing(situation)
	}
	return ""
}
