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
func (f *Findings) Agents(ctx context.Context, registry agent.Registry, here agent.Situation) error {
	agents, err := registry.Survey(ctx, here)
	f.OK("prices", "of models whose agent does not say what it cost: as of %s", agent.PricesAsOf())
	for _, one := range agents {
		subject := "agent " + one.Name
		switch {
		case one.Missing == "":
			f.OK(subject, "%s", strings.TrimSpace("ready "+one.Version))
		case slices.Contains(ProgramAgents, one.Name):
			f.OK(subject, "built in; %s", one.Missing)
		case one.NotLoggedIn:
			f.Warn(subject, strings.TrimSpace("installed and not signed in "+one.Version), one.Missing)
		default:
			*f = append(*f, Finding{Level: Absent, Subject: subject, Message: one.Missing})
		}
	}
	return err
}

// Checkout says whether the repository is whole.
func (f *Findings) Checkout(repo *git.Repo) {
	if repo.IsShallow() {
		f.Warn("checkout", "it is shallow, so every run fetches the rest of the history first",
			"give actions/checkout `fetch-depth: 0`, or run `git fetch --unshallow`")
	} else {
		f.OK("checkout", "%s", repo.Root)
	}
}

// String shows findings to people.
func (f *Findings) String() string {
	table := render.Table{Header: []string{"", "looked at", "found", "fix"}}
	for _, one := range *f {
		sign := map[Level]string{OK: "ok", Absent: "-", Warning: "warn", Problem: "FAIL"}[one.Level]
		table.Rows = append(table.Rows, []string{sign, one.Subject, one.Message, one.Fix})
	}
	return table.String() + "\nLook at one program's evaluation with `iterate doctor PROGRAM`.\n"
}
