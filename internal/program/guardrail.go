package program

import (
	"errors"
	"fmt"

	"github.com/org/autoloop/internal/metric"
)

const maxGuardrails = 50

func setGuardrails(p *Program, v value) error {
	const accepted = "give a list of `{metric: lag, direction: lower, max-regression: 5%}`"
	if v.kind != list || len(v.items) == 0 || len(v.items) > maxGuardrails {
		return errors.New(accepted)
	}
	for _, item := range v.items {
		if item.kind != mapping {
			return fault{item.line, errors.New(accepted)}
		}
		rail, err := p.guardrail(item)
		if err != nil {
			return err
		}
		p.Guardrails = append(p.Guardrails, rail)
	}
	return nil
}

func (p *Program) guardrail(item value) (rail Guardrail, err error) {
	rail.Direction = metric.Higher
	given := map[string]bool{}
	for _, f := range item.fields {
		if given[f.key] {
			return rail, fault{f.line, fmt.Errorf("`%s` is given twice; keep one", f.name)}
		}
		given[f.key] = true
		switch f.key {
		case "metric":
			rail.Metric, err = f.oneLine("the key of a number in the evaluation's JSON")
		case "direction", "metric-direction":
			rail.Direction, err = f.direction()
		case "max-regression":
			rail.MaxRegression, err = f.allowance()
		default:
			p.unknown(f, " of a guardrail", "metric", "direction", "max-regression")
		}
		if err != nil {
			return rail, fault{f.line, fmt.Errorf("`%s`: %w", f.name, err)}
		}
	}
	if rail.Metric == "" {
		return rail, fault{item.line, fmt.Errorf(
			"a guardrail needs `metric`, the key of a number in the evaluation's JSON")}
	}
	if !given["direction"] && !given["metric-direction"] {
		p.warn(item.line, "guardrail `%s` has no `direction`; `higher` is taken", clip(rail.Metric))
	}
	return rail, nil
}
