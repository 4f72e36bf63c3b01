package setup

import (
	"context"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/render"
)

// ProgramAgents are the agents that need nothing of the machine, but something of
// the program.
var ProgramAgents = []string{"command", "tuner"}

// Agents says of every agent whether it can be used here, in which version, and what
// it lacks. The installed ones are started to ask for their versions.
func Agents(ctx context.Context, registry *agent.Registry, here agent.Situation) ([]Finding, error) {
	agents, err := registry.Survey(ctx, here)
	var found findings
	found.ok("prices", "of models whose agent does not say what it cost: as of %s", agent.PricesAsOf())
	for _, one := range agents {
		subject := "agent " + one.Name
		switch {
		case one.Missing == "":
			found.ok(subject, "%s", strings.TrimSpace("ready "+one.Version))
		case slices.Contains(ProgramAgents, one.Name):
			found.ok(subject, "built in; %s", one.Missing)
		case one.NotLoggedIn:
			found.warn(subject, strings.TrimSpace("installed and not signed in "+one.Version), one.Missing)
		default:
			found = append(found, Finding{Level: Absent, Subject: subject, Message: one.Missing})
		}
	}
	return found, err
}

// Checkout says whether the repository is whole.
func Checkout(repo *git.Repo) []Finding {
	var found findings
	if shallow, err := repo.IsShallow(); err == nil && shallow {
		found.warn("checkout", "it is shallow, so every run fetches the rest of the history first",
			"give actions/checkout `fetch-depth: 0`, or run `git fetch --unshallow`")
	} else {
		found.ok("checkout", "%s", repo.Root)
	}
	return found
}

// FindingsTable shows findings to people.
func FindingsTable(findings []Finding) string {
	table := render.Table{Header: []string{"", "looked at", "found", "fix"}}
	for _, f := range findings {
		sign := map[Level]string{OK: "ok", Absent: "-", Warning: "warn", Problem: "FAIL"}[f.Level]
		table.Rows = append(table.Rows, []string{sign, f.Subject, f.Message, f.Fix})
	}
	return table.String() + "\nLook at one program's evaluation with `iterate doctor PROGRAM`.\n"
}
