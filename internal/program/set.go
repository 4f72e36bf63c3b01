package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/metric"
)

// The setters of keys with a form of their own.

func setSchedule(p *Program, v value) error {
	text, err := v.scalarText()
	if err != nil {
		return fmt.Errorf("%w; %s", err, scheduleForms)
	}
	p.Schedule, err = ParseSchedule(text)
	return err
}

func setDirection(p *Program, v value) error {
	d, err := v.direction()
	if err != nil {
		p.directionBad = true
		return err
	}
	p.Direction, p.DirectionGiven = d, true
	return nil
}

func (v value) direction() (metric.Direction, error) {
	text, err := v.oneOf("higher", "lower")
	return metric.Direction(text), err
}

func setTarget(p *Program, v value) error {
	number, err := v.number()
	if err == nil {
		p.Target = &number
	}
	return err
}

func setRange(p *Program, v value) error {
	const accepted = "give two numbers, the smaller first, as in `[0, 100]`"
	if v.kind != list || len(v.items) != 2 {
		return fmt.Errorf("%s", accepted)
	}
	low, err := v.items[0].number()
	if err != nil {
		return fmt.Errorf("%w; %s", err, accepted)
	}
	high, err := v.items[1].number()
	if err != nil {
		return fmt.Errorf("%w; %s", err, accepted)
	}
	if low.Cmp(high) >= 0 {
		return fmt.Errorf("%s is not below %s; %s", low, high, accepted)
	}
	p.Range = &Range{Min: low, Max: high}
	return nil
}

func setEvaluation(p *Program, v value) error {
	text, err := v.oneOf(string(Metric), string(Skill), string(Tasks))
	if err == nil {
		p.Evaluation = EvaluationKind(text)
	}
	return err
}

func setRuns(p *Program, v value) (err error) {
	if v.kind == scalar && strings.EqualFold(strings.TrimSpace(v.text), "auto") {
		return nil
	}
	p.Runs, err = v.count(1000, ", or `auto`")
	return err
}

func setConfidence(p *Program, v value) error {
	c, err := v.amount()
	if err != nil {
		return err
	}
	if c < 0.5 || c >= 1 {
		return fmt.Errorf("%g is not accepted; give a number from 0.5 to below 1, such as 0.95", c)
	}
	p.Confidence = c
	return nil
}

func setPlateau(p *Program, v value) (err error) {
	n, err := v.countOrOff()
	if err == nil {
		p.Plateau, p.PlateauGiven = n, true
	}
	return err
}

func setShare(p *Program, v value) error {
	items, err := v.words("node_modules, .venv")
	if err != nil {
		return err
	}
	for _, item := range items {
		path, err := cleanPath(item.text)
		if err != nil {
			return fault{item.line, err}
		}
		p.Share = append(p.Share, path)
	}
	return nil
}

// withheld are variables that no agent and no evaluation ever sees.
var withheld = []string{
	"GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN",
	"AUTOLOOP_MODELS_KEY", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
}

func setEnv(p *Program, v value) error {
	items, err := v.words("API_URL, CACHE_DIR")
	if err != nil {
		return err
	}
	for _, item := range items {
		name := strings.TrimSpace(item.text)
		if !isEnvName(name) {
			return fault{item.line, fmt.Errorf("%q is no name of a variable; give names only, as in `[API_URL]`",
				clip(name))}
		}
		if slices.Contains(withheld, strings.ToUpper(name)) {
			return fault{item.line, fmt.Errorf("`%s` is never given to agents and evaluations; remove it", name)}
		}
		p.Env = append(p.Env, name)
	}
	return nil
}

func isEnvName(name string) bool {
	for i := range len(name) {
		if c := name[i]; !letter(c) && c != '_' && (i == 0 || !digit(c)) {
			return false
		}
	}
	return name != ""
}

var associations = []string{
	"OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR", "FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR",
	"MANNEQUIN", "NONE",
}

// setAssociations reads whom the maintainers trust. An issue cannot say that
// of its own author.
func setAssociations(p *Program, v value) error {
	items, err := v.words("OWNER, MEMBER")
	if err != nil {
		return err
	}
	var names []string
	for _, item := range items {
		name := strings.ToUpper(strings.TrimSpace(item.text))
		if !slices.Contains(associations, name) {
			return fault{item.line, fmt.Errorf("%q is no association; accepted are %s", clip(name),
				strings.Join(associations, ", "))}
		}
		names = append(names, name)
	}
	if p.Issue > 0 {
		p.warn(v.line, "`trusted-associations` in an issue is ignored: an issue cannot say who is trusted")
		return nil
	}
	p.TrustedAssociations = names
	return nil
}
