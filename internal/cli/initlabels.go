package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/sync"
)

// initLabels are the labels that programs and their issues have.
func initLabels() []api.Label {
	return []api.Label{
		{Name: sync.ProgramLabel, Color: "1d76db", Description: "A program that Autoloop runs"},
		{Name: sync.CompletedLabel, Color: "0e8a16", Description: "A program that reached its target"},
		{Name: "automation", Color: "ededed", Description: "Opened by a workflow"},
		{Name: "autoloop", Color: "c5def5", Description: "Belongs to Autoloop"},
	}
}

// labelSteps are the labels that the repository on GitHub lacks. Where they
// cannot be made from here, by hand says how.
func labelSteps(ctx context.Context, env Env, hub *api.Client) (steps []initStep, byHand string) {
	labels := initLabels()
	if hub == nil {
		return nil, labelCommands(labels)
	}
	there, err := hub.Labels(ctx)
	if err != nil {
		fmt.Fprintf(env.Stderr, "warning: the labels are left to you: %v\n", err)
		return nil, labelCommands(labels)
	}
	for _, label := range labels {
		step := initStep{action: initCreate, name: "label " + label.Name, do: func(ctx context.Context) error { return hub.CreateLabel(ctx, label) }}
		if slices.ContainsFunc(there, func(name string) bool { return strings.EqualFold(name, label.Name) }) {
			step.action, step.why = initKeep, " (is there)"
		}
		steps = append(steps, step)
	}
	return steps, ""
}

// labelCommands make the labels by hand.
func labelCommands(labels []api.Label) string {
	var out strings.Builder
	for _, label := range labels {
		fmt.Fprintf(&out, "  gh label create %s --color %s --description %q --force\n", label.Name, label.Color, label.Description)
	}
	return out.String()
}
