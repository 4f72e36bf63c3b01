package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/setup"
)

// inspectSetup says whether this machine, repository and token can do all that
// iterations need. Nothing is written.
func inspectSetup(ctx context.Context, env Env, o iterateOptions, quick, asJSON bool) error {
	deps, err := app.Open(ctx, env, o.Options)
	if err != nil {
		return err
	}
	isolation, err := isolationFinding(ctx, env)
	if err != nil {
		return err
	}
	findings := append(append(machineFindings(env), isolation), checkout(ctx, deps.Repo)...)
	switch {
	case deps.GitHub != nil:
		findings = append(findings, setup.Hub{Client: deps.GitHub, WorkflowToken: env.WorkflowToken()}.Examine(ctx)...)
	case o.Repository(env) != "":
		findings = append(findings, setup.Finding{
			Level: setup.Warning, Subject: "GitHub", Message: "there is a repository and no token, so GitHub is left out", Fix: "set GITHUB_TOKEN",
		})
	default:
		findings = append(findings, setup.Finding{Level: setup.OK, Subject: "GitHub", Message: "left out: no repository is named"})
	}
	if !quick {
		evaluations, err := inspectPrograms(ctx, deps)
		if err != nil {
			return err
		}
		findings = append(findings, evaluations...)
	}
	if asJSON {
		encoder := json.NewEncoder(env.Stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(findings)
	} else {
		_, err = fmt.Fprint(env.Stdout, findingsTable(findings))
	}
	if err != nil {
		return err
	}
	for _, f := range findings {
		if f.Level == setup.Problem {
			return &ExitError{Code: ExitFailed}
		}
	}
	return nil
}

// machineFindings are the agents that can be used here.
func machineFindings(env Env) []setup.Finding {
	registry := app.NewRegistry(env, process.NewRunner(), process.NewMasker(env.Environ))
	var usable []string
	var unsigned []setup.Finding
	for _, name := range registry.Names() {
		found, err := registry.Usable(name, agent.Situation{Env: env.Environ})
		if err == nil {
			if _, ok := found.(*agent.Headless); ok {
				name += " (signed in)"
			}
			usable = append(usable, name)
			continue
		}
		unsigned = append(unsigned, notSignedIn(env, registry, name)...)
	}
	if len(usable) == 0 {
		return append(unsigned, setup.Finding{
			Level: setup.OK, Subject: "agents",
			Message: "tuner and command are built in; no other can be used here (`iterate agents` has what each lacks)",
		})
	}
	return append(unsigned, setup.Finding{Level: setup.OK, Subject: "agents", Message: "can be used here: " + strings.Join(usable, ", ")})
}

// notSignedIn is the finding on an agent that is installed and has neither a
// key nor a login; none for one that is not installed.
func notSignedIn(env Env, registry *agent.Registry, name string) []setup.Finding {
	found, err := registry.Lookup(name)
	tool, ok := found.(*agent.Headless)
	if err != nil || !ok {
		return nil
	}
	how, missing := tool.SignIn(), tool.Missing(agent.Situation{Env: env.Environ})
	if how == "" || missing != how {
		return nil
	}
	return []setup.Finding{{Level: setup.Warning, Subject: "agents", Message: name + " is installed and not signed in", Fix: how}}
}

func checkout(ctx context.Context, repo *git.Repo) []setup.Finding {
	findings := []setup.Finding{{Level: setup.OK, Subject: "checkout", Message: repo.Root}}
	if shallow, err := repo.IsShallow(ctx); err == nil && shallow {
		findings[0] = setup.Finding{
			Level: setup.Warning, Subject: "checkout", Message: "it is shallow, so every run fetches the rest of the history first",
			Fix: "give actions/checkout `fetch-depth: 0`, or run `git fetch --unshallow`",
		}
	}
	return findings
}

func findingsTable(findings []setup.Finding) string {
	table := render.Table{Header: []string{"", "looked at", "found", "fix"}}
	for _, f := range findings {
		sign := map[setup.Level]string{setup.OK: "ok", setup.Warning: "warn", setup.Problem: "FAIL"}[f.Level]
		table.Rows = append(table.Rows, []string{sign, f.Subject, f.Message, f.Fix})
	}
	return table.String() + "\nLook at one program's evaluation with `iterate doctor --evaluation PROGRAM`.\n"
}
