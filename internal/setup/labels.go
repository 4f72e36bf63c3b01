package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/sync"
)

// LabelSteps are the labels that the repository on GitHub lacks. Where they
// cannot be made from here, byHand says how, and the error why.
func LabelSteps(ctx context.Context, client *api.Client) (steps []Step, byHand string, err error) {
	var there []api.Label
	if client != nil {
		there, err = client.Labels(ctx)
	}
	for _, label := range []api.Label{
		{Name: sync.ProgramLabel, Color: "1d76db", Description: "A program that Autoloop runs"},
		{Name: sync.CompletedLabel, Color: "0e8a16", Description: "A program that reached its target"},
		{Name: "automation", Color: "ededed", Description: "Opened by a workflow"},
		{Name: "autoloop", Color: "c5def5", Description: "Belongs to Autoloop"},
	} {
		if client == nil || err != nil {
			byHand += fmt.Sprintf("  gh label create %s --color %s --description %q --force\n", label.Name, label.Color,
				label.Description)
			continue
		}
		step := Step{
			Action: Create, Name: "label " + label.Name,
			Do: func(ctx context.Context) error { return client.CreateLabel(ctx, label) },
		}
		if slices.ContainsFunc(there, func(l api.Label) bool { return strings.EqualFold(l.Name, label.Name) }) {
			step.Action, step.Why = Keep, " (is there)"
		}
		steps = append(steps, step)
	}
	return steps, byHand, err
}
