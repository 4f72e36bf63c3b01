package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/render"
)

func newAgentsCommand(env Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "Show which agents can propose changes here, and what the others lack",
		Long: "Show every agent that `agent:` and --agent can name: whether it can be used on this machine, the version\n" +
			"that is installed, and what is missing. An agent that is a program of its own is asked for its version;\n" +
			"no model is asked anything.",
		Example: "  iterate agents\n  iterate agents --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return agents(cmd.Context(), env, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// agentStatus is one agent in `iterate agents --json`.
type agentStatus struct {
	Name string `json:"name"`
	// State is ready, missing, not-logged-in, or program: it depends on the program.
	State   string  `json:"state"`
	Version *string `json:"version"`
	Missing *string `json:"missing"`
	Install *string `json:"install"`
}

func agents(ctx context.Context, env Env, asJSON bool) error {
	registry := app.NewRegistry(env, env.NewRunner(), process.NewMasker(env.Environ))
	found, err := registry.Survey(ctx, agent.Situation{Env: env.Environ, Dir: env.Dir})
	if err != nil {
		return err
	}
	list := make([]agentStatus, len(found))
	for i, one := range found {
		list[i] = agentStatus{one.Name, stateOf(one), text(one.Version), text(one.Missing), text(one.Install)}
	}
	if asJSON {
		return printJSON(env, list)
	}
	fmt.Fprint(env.Stdout, agentsTable(found))
	fmt.Fprintf(env.Stdout, "\nprices of models whose agent does not say what it cost: as of %s\n", agent.PricesAsOf())
	return nil
}

// ofPrograms are the agents that need nothing of the machine, but something of
// the program.
var ofPrograms = []string{"command", "tuner"}

func stateOf(one agent.Availability) string {
	switch {
	case one.Missing == "":
		return "ready"
	case slices.Contains(ofPrograms, one.Name):
		return "program"
	case one.NotLoggedIn:
		return "not-logged-in"
	default:
		return "missing"
	}
}

func agentsTable(found []agent.Availability) render.Table {
	table := render.Table{Header: []string{"AGENT", "STATE", "VERSION", "WHAT IT NEEDS"}}
	for _, one := range found {
		version := cmp.Or(one.Version, "—")
		table.Rows = append(table.Rows, []string{one.Name, strings.ReplaceAll(stateOf(one), "-", " "), version, one.Missing})
	}
	return table
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
