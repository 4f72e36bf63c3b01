package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
)

// Situation is what decides whether an agent can be used here.
type Situation struct {
	// Command is the program's `agent-command`.
	Command string
	// Dir is a tree or checkout, and Targets the target files in it, relative
	// and with slashes.
	Dir     string
	Targets []string
}

// Known is an Agent that knows whether it can be used.
type Known interface {
	Agent
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

// Registry holds the agents that this binary knows, in the order in which they
// are listed to people; their names are distinct.
type Registry []Known

// Names returns the names in order.
func (r Registry) Names() []string {
	names := make([]string, len(r))
	for i, agent := range r {
		names[i] = agent.Name()
	}
	return names
}

// Lookup finds an agent by its name. The error lists the names.
func (r Registry) Lookup(name string) (Known, error) {
	for _, agent := range r {
		if agent.Name() == name {
			return agent, nil
		}
	}
	return nil, fmt.Errorf("no agent is called %q (known: %s)", name, strings.Join(r.Names(), ", "))
}

// Ready finds an agent by its name and asks whether it can be used; one that is a
// program of its own is asked for its version too. The error says what is missing. A
// program that does not say its version is not ready.
func (r Registry) Ready(ctx context.Context, name string, situation Situation) (Agent, error) {
	agent, err := r.Lookup(name)
	if err != nil {
		return nil, err
	}
	if missing := agent.Missing(situation); missing != "" {
		return nil, fmt.Errorf("agent %s cannot be used: %s", name, missing)
	}
	if installed, ok := agent.(Installed); ok {
		if _, err := installed.Version(ctx); err != nil {
			return nil, fmt.Errorf("agent %s cannot be used: %w", name, err)
		}
	}
	return agent, nil
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

// versionTime bounds how long an agent may take to say its version.
const versionTime = time.Minute

var versionNumber = lazyregexp.New(`\d+(?:\.\d+)+`)

// parts are the numbers of a version, of which those that it does not have are 0.
func parts(version string) []int {
	numbers := make([]int, 6)
	for i, part := range strings.SplitN(version, ".", len(numbers)) {
		numbers[i], _ = strconv.Atoi(part)
	}
	return numbers
}

// Version asks the installed agent for its version, in an empty home and with
// nothing of the caller's environment but where programs are. One that is too old is an
// error too.
func (h *Headless) Version(ctx context.Context) (string, error) {
	home, err := os.MkdirTemp(process.Getenv(h.caller, "TMPDIR"), "autoloop-version-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(home) }()
	result, err := h.runner.Run(ctx, process.Spec{
		Args: []string{h.agent.Program, "--version"}, Dir: home, Env: process.Environment(h.caller, home, nil),
		Timeout: versionTime,
	})
	switch {
	case err != nil:
		return "", err
	case result.Cancelled:
		return "", context.Cause(ctx)
	case result.NotFound:
		return "", errors.New(h.absent())
	}
	version := versionNumber().FindString(string(result.Stdout))
	if version == "" {
		return "", fmt.Errorf("it did not say its version: `%s --version` ended with exit code %d %s", h.agent.Program,
			result.ExitCode, plain.Short(lastLine(result.Stderr), MaxSummary))
	}
	return version, outdated(h.agent, version)
}

// outdated is the error of a version that is too old, and how to get another.
func outdated(d commandline.Descriptor, version string) error {
	if slices.Compare(parts(version), parts(d.Oldest)) >= 0 {
		return nil
	}
	return fmt.Errorf("version %s is too old (at least %s): %s", version, d.Oldest, d.Install)
}
