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
	found, err := registry.Survey(ctx, here)
	findings := []Finding{ok("prices", "of models whose agent does not say what it cost: as of %s", agent.PricesAsOf())}
	for _, one := range found {
		f := ok("agent "+one.Name, "%s", strings.TrimSpace("ready "+one.Version))
		switch {
		case one.Missing == "":
		case slices.Contains(ProgramAgents, one.Name):
			f.Message = "built in; " + one.Missing
		case one.NotLoggedIn:
			f = warning(f.Subject, strings.TrimSpace("installed and not signed in "+one.Version), one.Missing)
		default:
			f.Level, f.Message = Absent, one.Missing
		}
		findings = append(findings, f)
	}
	return findings, err
}

// Checkout says whether the repository is whole.
func Checkout(repo *git.Repo) []Finding {
	findings := []Finding{{Level: OK, Subject: "checkout", Message: repo.Root}}
	if shallow, err := repo.IsShallow(); err == nil && shallow {
		findings[0] = Finding{
			Level: Warning, Subject: "checkout",
			Message: "it is shallow, so every run fetches the rest of the history first",
			Fix:     "give actions/checkout `fetch-depth: 0`, or run `git fetch --unshallow`",
		}
	}
	return findings
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
