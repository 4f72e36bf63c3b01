package cli

import (
	"context"
	"fmt"

	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
)

// examineSkill examines the suite of a skill, with what is kept of earlier runs; history ""
// is nothing.
func (a *App) examineSkill(ctx context.Context, dir, history string) error {
	suited, err := evalrun.Load(a.Path(dir), ".", "")
	if err != nil {
		return err
	}
	var past []evals.PastCase
	if history != "" {
		if past, err = evalrun.History(ctx, a.Path(history)); err != nil {
			return err
		}
	}
	findings := append([]evals.Finding{}, evals.Examine(suited.Evals, suited.Triggers, past)...)
	text := ""
	for _, f := range findings {
		where := "suite"
		if f.Case != "" {
			where = "case " + f.Case
		}
		text += fmt.Sprintf("%s: %s: %s\n", where, f.Kind, f.Message)
	}
	if text == "" {
		text = suited.Name + ": nothing found\n"
	}
	return verdict(a.print(struct {
		Name     string          `json:"name"`
		Runs     int             `json:"gradings"`
		Findings []evals.Finding `json:"findings"`
	}{suited.Name, len(past), findings}, text), len(findings) > 0)
}
