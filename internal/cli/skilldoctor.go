package cli

import (
	"context"
	"fmt"

	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
)

func examineSkill(ctx context.Context, env Env, dir, history string, asJSON bool) error {
	suited, err := evalrun.Load(env.Path(dir), ".", "")
	if err != nil {
		return err
	}
	var past []evals.PastCase
	if history != "" {
		if past, err = evalrun.History(ctx, env.Path(history)); err != nil {
			return err
		}
	}
	findings := evals.Examine(suited.Evals, suited.Triggers, past)
	if asJSON {
		err = printJSON(env, struct {
			Name     string          `json:"name"`
			Runs     int             `json:"gradings"`
			Findings []evals.Finding `json:"findings"`
		}{suited.Name, len(past), append([]evals.Finding{}, findings...)})
	} else {
		err = printFindings(env, suited.Name, findings)
	}
	return verdict(err, len(findings) > 0)
}

func findingLine(f evals.Finding) string {
	where := "suite"
	if f.Case != "" {
		where = "case " + f.Case
	}
	return fmt.Sprintf("%s: %s: %s", where, f.Kind, f.Message)
}

func printFindings(env Env, name string, findings []evals.Finding) error {
	for _, finding := range findings {
		fmt.Fprintln(env.Stdout, findingLine(finding))
	}
	if len(findings) > 0 {
		return nil
	}
	_, err := fmt.Fprintf(env.Stdout, "%s: nothing found\n", name)
	return err
}
