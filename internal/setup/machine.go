package setup

import (
	"context"
	"strings"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/render"
)

// Agents are the agents that can be used here.
func Agents(registry *agent.Registry, environ []string) []Finding {
	var usable []string
	var unsigned []Finding
	for _, name := range registry.Names() {
		found, err := registry.Usable(name, agent.Situation{Env: environ})
		if err == nil {
			if _, ok := found.(*agent.Headless); ok {
				name += " (signed in)"
			}
			usable = append(usable, name)
			continue
		}
		unsigned = append(unsigned, notSignedIn(registry, name, environ)...)
	}
	if len(usable) == 0 {
		return append(unsigned, Finding{
			Level: OK, Subject: "agents",
			Message: "tuner and command are built in; no other can be used here (`iterate agents` has what each lacks)",
		})
	}
	return append(unsigned, Finding{Level: OK, Subject: "agents", Message: "can be used here: " + strings.Join(usable, ", ")})
}

// notSignedIn is the finding on an agent that is installed and has neither a
// key nor a login; none for one that is not installed.
func notSignedIn(registry *agent.Registry, name string, environ []string) []Finding {
	found, err := registry.Lookup(name)
	tool, ok := found.(*agent.Headless)
	if err != nil || !ok {
		return nil
	}
	how, missing := tool.SignIn(), tool.Missing(agent.Situation{Env: environ})
	if how == "" || missing != how {
		return nil
	}
	return []Finding{{Level: Warning, Subject: "agents", Message: name + " is installed and not signed in", Fix: how}}
}

// Checkout says whether the repository is whole.
func Checkout(ctx context.Context, repo *git.Repo) []Finding {
	findings := []Finding{{Level: OK, Subject: "checkout", Message: repo.Root}}
	if shallow, err := repo.IsShallow(); err == nil && shallow {
		findings[0] = Finding{
			Level: Warning, Subject: "checkout", Message: "it is shallow, so every run fetches the rest of the history first",
			Fix: "give actions/checkout `fetch-depth: 0`, or run `git fetch --unshallow`",
		}
	}
	return findings
}

// FindingsTable shows findings to people.
func FindingsTable(findings []Finding) string {
	table := render.Table{Header: []string{"", "looked at", "found", "fix"}}
	for _, f := range findings {
		sign := map[Level]string{OK: "ok", Warning: "warn", Problem: "FAIL"}[f.Level]
		table.Rows = append(table.Rows, []string{sign, f.Subject, f.Message, f.Fix})
	}
	return table.String() + "\nLook at one program's evaluation with `iterate doctor --evaluation PROGRAM`.\n"
}
