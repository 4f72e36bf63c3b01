package agent

import (
	"context"
	"errors"
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

// Installed is an Agent that is a program of its own.
type Installed interface {
	// SignIn says how to sign in; "" when there is a key or a login.
	SignIn() string
	// Version asks it for its version. The error of one that is too old says what to do.
	Version(ctx context.Context) (string, error)
}

// Availability says whether one agent can be used.
type Availability struct {
	Name string
	// Missing is what it lacks; "" when it can be used.
	Missing string
	// NotLoggedIn says that it is installed and lacks a key or a login alone.
	NotLoggedIn bool
	// Version is that of an agent that is a program of its own; "" is unknown, and for all
	// others.
	Version string
}

// Registry holds the agents that this binary knows, in the order in which they
// are listed to people; their names are distinct.
type Registry []Agent

// Names returns the names in order.
func (r Registry) Names() []string {
	names := make([]string, len(r))
	for i, agent := range r {
		names[i] = agent.Name()
	}
	return names
}

// Lookup finds an agent by its name. The error lists the names.
func (r Registry) Lookup(name string) (Agent, error) {
	for _, agent := range r {
		if agent.Name() == name {
			return agent, nil
		}
	}
	return nil, fmt.Errorf("no agent is called %q (known: %s)", name, strings.Join(r.Names(), ", "))
}

// Usable finds an agent by its name and asks whether it can be used. The error
// says what is missing.
func (r Registry) Usable(name string, situation Situation) (Agent, error) {
	agent, err := r.Lookup(name)
	if err != nil {
		return nil, err
	}
	if missing := missingOf(agent, situation); missing != "" {
		return nil, fmt.Errorf("agent %s cannot be used: %s", name, missing)
	}
	return agent, nil
}

// Ready is Usable for an agent that is going to work: one that is a program of
// its own is asked for its version too. A program that does not say it is not
// ready.
func (r Registry) Ready(ctx context.Context, name string, situation Situation) (Agent, error) {
	agent, err := r.Usable(name, situation)
	if err != nil {
		return nil, err
	}
	if installed, ok := agent.(Installed); ok {
		if _, err := installed.Version(ctx); err != nil {
			return nil, fmt.Errorf("agent %s cannot be used: %w", name, err)
		}
	}
	return agent, nil
}

// Survey says of every agent whether it can be used, in order. It starts the
// installed ones to ask for their versions; an error is only the context's.
func (r Registry) Survey(ctx context.Context, situation Situation) ([]Availability, error) {
	found := make([]Availability, len(r))
	for i, agent := range r {
		one := Availability{Name: agent.Name(), Missing: missingOf(agent, situation)}
		if installed, ok := agent.(Installed); ok {
			var err error
			one.Version, err = installed.Version(ctx)
			if err != nil && !errors.Is(err, errNotInstalled) { // which Missing says
				one.Missing = err.Error()
			}
			one.NotLoggedIn = one.Missing != "" && one.Missing == installed.SignIn()
		}
		found[i] = one
	}
	return found, context.Cause(ctx)
}

func missingOf(agent Agent, situation Situation) string {
	if prober, ok := agent.(Prober); ok {
		return prober.Missing(situation)
	}
	return ""
}

// Project is how an agent works with the directory of a project.
type Project struct {
	// Skills is the directory in which it looks for skills.
	Skills  string
	Printed Printed
}

// Printed is what an agent prints, and so what its transcript holds.
type Printed int

// The forms of a transcript.
const (
	Words    Printed = iota // what it has to say to a person
	Events                  // its whole conversation, an event a line
	Markdown                // its whole conversation as markdown
)

// defaultSkills is where an agent is sent to look for skills that has no place of
// its own.
const defaultSkills = ".claude/skills"

// ProjectOf says how an agent works with the directory of a project. An agent
// that does not say so itself is told where the skills are, and its transcript
// is what it printed.
func ProjectOf(a Agent) Project {
	if describing, ok := a.(interface{ Project() Project }); ok {
		return describing.Project()
	}
	return Project{Skills: defaultSkills}
}
