package taskrun

import "github.com/org/autoloop/internal/agent/commandline"

// AgentOf is the name here of an agent that a task file, or a person, calls by one of
// its other names.
func AgentOf(name string) string { return commandline.All().Canonical(name) }
