package program

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/org/autoloop/internal/score"
)

// reader puts the keys of the frontmatter into a program.
type reader struct {
	*Program
	offset     int
	seen       map[string]string // normal key → as it was written
	evaluation bool
}

func (r *reader) read(pairs []*ast.MappingValueNode) {
	for _, pair := range pairs {
		token := pair.Key.GetToken()
		line := r.offset + token.Position.Line
		key := normalKey(token.Value)
		if before, twice := r.seen[key]; twice {
			r.fail(line, "`%s` is given twice (`%s` before); keep one", token.Value, before)
			continue
		}
		r.seen[key] = token.Value
		set, known := keys[key]
		if !known {
			r.warn(line, "unknown key `%s` is ignored%s", clip(token.Value), nearest(key))
			continue
		}
		v, err := convert(pair.Value, r.offset, 0)
		if err != nil {
			r.fail(line, "`%s`: %v", key, err)
			continue
		}
		v.line = line
		if err := set(r, v); err != nil {
			r.fail(line, "`%s`: %v", key, err)
		}
	}
	r.conclude()
}

// conclude sets what follows from several keys.
func (r *reader) conclude() {
	if r.evaluation {
		return
	}
	switch {
	case r.Skill != "":
		r.Evaluation = Skill
	case r.Tasks != "":
		r.Evaluation = Tasks
	}
}

// setter reads one key; the error says what is accepted.
type setter func(r *reader, v value) error

var keys = map[string]setter{
	"schedule": func(r *reader, v value) error {
		text, err := v.word("a schedule such as `every 6h`, `daily` or `0 3 * * *`")
		if err != nil {
			return err
		}
		r.Schedule, err = ParseSchedule(text)
		return err
	},
	"metric-direction": func(r *reader, v value) (err error) {
		r.Direction, err = direction(v)
		r.DirectionGiven = err == nil
		if err != nil {
			r.Direction = score.Higher
		}
		return err
	},
	"target-metric": func(r *reader, v value) error {
		number, err := v.number()
		if err == nil {
			r.Target = &number
		}
		return err
	},
	"metric":       textKey(func(p *Program) *string { return &p.Metric }),
	"metric-range": setRange,
	"guardrails":   setGuardrails,
	"evaluation": func(r *reader, v value) error {
		text, err := v.oneOf("metric", "skill", "tasks")
		r.Evaluation, r.evaluation = Kind(text), true
		return err
	},
	"skill":                        pathKey(func(p *Program) *string { return &p.Skill }),
	"evals":                        pathKey(func(p *Program) *string { return &p.Evals }),
	"tasks":                        pathKey(func(p *Program) *string { return &p.Tasks }),
	"evaluation-runs":              setRuns,
	"min-improvement":              func(r *reader, v value) (err error) { r.MinImprovement, err = v.allowance(); return err },
	"confidence":                   setConfidence,
	"min-composite-gain":           thresholdKey(func(t *Thresholds) *float64 { return &t.MinCompositeGain }),
	"regression-composite-drop":    thresholdKey(func(t *Thresholds) *float64 { return &t.RegressionCompositeDrop }),
	"cost-tolerance":               thresholdKey(func(t *Thresholds) *float64 { return &t.CostTolerance }),
	"objective-drop-is-regression": boolKey(func(p *Program) *bool { return &p.Thresholds.ObjectiveDropIsRegression }),
	"net-loss-is-regression":       boolKey(func(p *Program) *bool { return &p.Thresholds.NetLossIsRegression }),
	"no-case-regression":           boolKey(func(p *Program) *bool { return &p.NoCaseRegression }),
	"judge":                        choiceKey(func(p *Program) *string { return &p.Judge }, "auto", "api", "cli", "off"),
	"judge-model":                  textKey(func(p *Program) *string { return &p.JudgeModel }),
	"plateau": func(r *reader, v value) (err error) {
		r.Plateau, err = v.countOrOff()
		r.PlateauGiven = err == nil
		return err
	},
	"stop-after-reverts": func(r *reader, v value) (err error) { r.StopAfterReverts, err = v.countOrOff(); return err },
	"timeout-minutes": func(r *reader, v value) error {
		number, err := v.number()
		if err != nil {
			return err
		}
		minutes := number.Float64()
		if minutes <= 0 || minutes > 7*24*60 {
			return fmt.Errorf("%s minutes are not between 0 and a week", number)
		}
		r.Timeout = time.Duration(minutes * float64(time.Minute))
		return nil
	},
	"evaluation-timeout": durationKey(func(p *Program) *time.Duration { return &p.EvaluationTimeout }),
	"ci-wait":            durationKey(func(p *Program) *time.Duration { return &p.CIWait }),
	"ci-timeout":         durationKey(func(p *Program) *time.Duration { return &p.CITimeout }),
	"jobs":               countKey(func(p *Program) *int { return &p.Jobs }, 1, 256),
	"candidates":         countKey(func(p *Program) *int { return &p.Candidates }, 1, 64),
	"setup":              textKey(func(p *Program) *string { return &p.Setup }),
	"share":              listKey(func(p *Program) *[]string { return &p.Share }),
	"env":                setEnv,
	"network":            boolKey(func(p *Program) *bool { return &p.Network }),
	"isolation":          choiceKey(func(p *Program) *string { return &p.Isolation }, "auto", "required", "off"),
	"target":             patternsKey(func(p *Program) *[]Pattern { return &p.Targets }),
	"protect":            patternsKey(func(p *Program) *[]Pattern { return &p.Protected }),
	"agent":              textKey(func(p *Program) *string { return &p.Agent }),
	"agents":             listKey(func(p *Program) *[]string { return &p.Agents }),
	"model":              textKey(func(p *Program) *string { return &p.Model }),
	"agent-command":      textKey(func(p *Program) *string { return &p.AgentCommand }),
	"strategy":           choiceKey(func(p *Program) *string { return &p.Strategy }, "openevolve", "test-driven"),
	"budget":             setBudget,
	"unknown-cost":       choiceKey(func(p *Program) *string { return &p.UnknownCost }, "allow", "pause"),
	"ci-gate":            choiceKey(func(p *Program) *string { return &p.CIGate }, "auto", "required", "off"),
	"ci-workflow":        textKey(func(p *Program) *string { return &p.CIWorkflow }),
	"trusted-associations": func(r *reader, v value) error {
		names, err := v.words()
		if err != nil {
			return err
		}
		r.TrustedAssociations = nil
		for _, name := range names {
			name = strings.ToUpper(name)
			if !slices.Contains(associations, name) {
				return fmt.Errorf("%q is no association; accepted are %s", name, strings.Join(associations, ", "))
			}
			r.TrustedAssociations = append(r.TrustedAssociations, name)
		}
		return nil
	},
}

var associations = []string{"OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR", "FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR", "MANNEQUIN", "NONE"}

func direction(v value) (score.Direction, error) {
	if v.kind != scalar || strings.TrimSpace(v.text) == "" {
		return "", fmt.Errorf("it is empty; accepted are `higher` and `lower`")
	}
	d, err := score.ParseDirection(v.text)
	if err != nil {
		return "", fmt.Errorf("%q is neither `higher` nor `lower`", clip(v.text))
	}
	return d, nil
}

func setRange(r *reader, v value) error {
	if v.kind != list || len(v.items) != 2 {
		return fmt.Errorf("give two numbers, as in `[0, 100]`")
	}
	low, err := v.items[0].number()
	if err != nil {
		return err
	}
	high, err := v.items[1].number()
	if err != nil {
		return err
	}
	if low.Cmp(high) >= 0 {
		return fmt.Errorf("the first number %s is not below the second %s", low, high)
	}
	r.Range = &Range{Min: low, Max: high}
	return nil
}

func setGuardrails(r *reader, v value) error {
	if v.kind != list {
		return fmt.Errorf("give a list, as in `- {metric: lag, direction: lower, max-regression: 5%%}`")
	}
	for _, item := range v.items {
		rail, err := guardrail(item)
		if err != nil {
			return err
		}
		r.Guardrails = append(r.Guardrails, rail)
	}
	return nil
}

func guardrail(item value) (rail Guardrail, err error) {
	if item.kind != mapping {
		return rail, fmt.Errorf("line %d: each guardrail is `{metric: …, direction: …, max-regression: …}`", item.line)
	}
	rail.Direction = score.Higher
	for i, key := range item.keys {
		field := item.fields[i]
		switch key {
		case "metric":
			rail.Metric, err = field.word("the key of a number")
		case "direction":
			rail.Direction, err = direction(field)
		case "max-regression":
			rail.MaxRegression, err = field.allowance()
		default:
			err = fmt.Errorf("unknown key; accepted are metric, direction, max-regression")
		}
		if err != nil {
			return rail, fmt.Errorf("line %d: `%s`: %w", field.line, clip(key), err)
		}
	}
	if rail.Metric == "" {
		return rail, fmt.Errorf("line %d: a guardrail needs `metric`", item.line)
	}
	return rail, nil
}

func setRuns(r *reader, v value) error {
	if strings.EqualFold(v.text, "auto") {
		r.Runs = 0
		return nil
	}
	n, err := v.count(1, 1000)
	if err != nil {
		return fmt.Errorf("%w, or `auto`", err)
	}
	r.Runs = n
	return nil
}

func setConfidence(r *reader, v value) error {
	number, err := v.number()
	if err != nil {
		return err
	}
	if c := number.Float64(); c < 0.5 || c >= 1 {
		return fmt.Errorf("%s is not between 0.5 and 1, such as 0.95", number)
	}
	r.Confidence = number.Float64()
	return nil
}

func setEnv(r *reader, v value) error {
	names, err := v.words()
	if err != nil {
		return err
	}
	for _, name := range names {
		if !isEnvName(name) {
			return fmt.Errorf("%q is no name of a variable; give names only, such as `[API_URL]`", clip(name))
		}
	}
	r.Env = names
	return nil
}

func isEnvName(name string) bool {
	for i, c := range name {
		letter := c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

func setBudget(r *reader, v value) error {
	const form = "give `{iterations: …, tokens: …, usd: …, minutes: …, per: day|week|month}`"
	if v.kind != mapping {
		return fmt.Errorf("%s", form)
	}
	budget := Budget{Per: "month"}
	for i, key := range v.keys {
		field := v.fields[i]
		if key == "per" {
			per, err := field.oneOf("day", "week", "month")
			if err != nil {
				return fmt.Errorf("`per`: %w", err)
			}
			budget.Per = per
			continue
		}
		number, err := field.number()
		if err != nil || number.Sign() < 0 || number.Float64() > math.MaxInt32*1e6 {
			return fmt.Errorf("`%s` is no amount of zero or more; %s", clip(key), form)
		}
		switch key {
		case "iterations":
			budget.Iterations = int(number.Float64())
		case "tokens":
			budget.Tokens = int64(number.Float64())
		case "usd":
			budget.USD = number.Float64()
		case "minutes":
			budget.Minutes = number.Float64()
		default:
			return fmt.Errorf("unknown key `%s`; %s", clip(key), form)
		}
	}
	r.Budget = budget
	return nil
}

// The makers of setters for keys that are alike.

func textKey(field func(*Program) *string) setter {
	return func(r *reader, v value) error {
		text, err := v.word("a text")
		if err == nil {
			*field(r.Program) = text
		}
		return err
	}
}

func pathKey(field func(*Program) *string) setter {
	return func(r *reader, v value) error {
		text, err := v.word("a path in the repository")
		if err != nil {
			return err
		}
		if text, err = cleanPattern(text); err != nil {
			return err
		}
		*field(r.Program) = strings.TrimSuffix(text, "/")
		return nil
	}
}

func choiceKey(field func(*Program) *string, choices ...string) setter {
	return func(r *reader, v value) error {
		text, err := v.oneOf(choices...)
		if err == nil {
			*field(r.Program) = text
		}
		return err
	}
}

func boolKey(field func(*Program) *bool) setter {
	return func(r *reader, v value) error {
		text, err := v.oneOf("true", "false", "yes", "no", "on", "off")
		if err == nil {
			*field(r.Program) = text == "true" || text == "yes" || text == "on"
		}
		return err
	}
}

func countKey(field func(*Program) *int, least, most int) setter {
	return func(r *reader, v value) error {
		n, err := v.count(least, most)
		if err == nil {
			*field(r.Program) = n
		}
		return err
	}
}

func durationKey(field func(*Program) *time.Duration) setter {
	return func(r *reader, v value) error {
		text, err := v.word("a duration such as `90s`, `10m` or `1h30m`")
		if err != nil {
			return err
		}
		d, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
		if err != nil || d <= 0 || d > 30*24*time.Hour {
			return fmt.Errorf("%q is no duration; accepted are forms such as `90s`, `10m` or `1h30m`", clip(text))
		}
		*field(r.Program) = d
		return nil
	}
}

func thresholdKey(field func(*Thresholds) *float64) setter {
	return func(r *reader, v value) error {
		number, err := v.number()
		if err != nil {
			return err
		}
		if number.Sign() < 0 {
			return fmt.Errorf("%s is below 0", number)
		}
		*field(&r.Thresholds) = number.Float64()
		return nil
	}
}

func listKey(field func(*Program) *[]string) setter {
	return func(r *reader, v value) error {
		words, err := v.words()
		if err == nil {
			*field(r.Program) = words
		}
		return err
	}
}

func patternsKey(field func(*Program) *[]Pattern) setter {
	return func(r *reader, v value) error {
		words, err := v.words()
		if err != nil {
			return err
		}
		for _, word := range words {
			pattern, err := newPattern(word, v.line)
			if err != nil {
				return err
			}
			*field(r.Program) = append(*field(r.Program), pattern)
		}
		return nil
	}
}

// word is a scalar that is not empty.
func (v value) word(what string) (string, error) {
	if v.kind != scalar || strings.TrimSpace(v.text) == "" {
		return "", fmt.Errorf("give %s", what)
	}
	return strings.TrimSpace(v.text), nil
}

// words is a list of scalars; one scalar is a list of one.
func (v value) words() ([]string, error) {
	items := v.items
	switch v.kind {
	case scalar:
		items = []value{v}
	case list:
	default:
		return nil, fmt.Errorf("give a list, as in `[a, b]`")
	}
	words := make([]string, 0, len(items))
	for _, item := range items {
		word, err := item.word("texts in the list")
		if err != nil {
			return nil, err
		}
		words = append(words, word)
	}
	return words, nil
}

func (v value) oneOf(choices ...string) (string, error) {
	text := strings.ToLower(strings.TrimSpace(v.text))
	if v.kind != scalar || !slices.Contains(choices, text) {
		return choices[0], fmt.Errorf("%q is not accepted; accepted are %s", clip(v.text), strings.Join(choices, ", "))
	}
	return text, nil
}

func (v value) number() (score.Value, error) {
	if v.kind != scalar {
		return score.Value{}, fmt.Errorf("give a number")
	}
	number, err := score.ParseValue(v.text)
	if err != nil {
		return number, fmt.Errorf("%w; give a plain number such as 0.95", err)
	}
	return number, nil
}

func (v value) count(least, most int) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(v.text))
	if v.kind != scalar || err != nil || n < least || n > most {
		return 0, fmt.Errorf("give a whole number from %d to %d", least, most)
	}
	return n, nil
}

func (v value) countOrOff() (int, error) {
	if text := strings.ToLower(v.text); v.kind == scalar && (text == "off" || text == "false") {
		return 0, nil
	}
	n, err := v.count(1, 10_000)
	if err != nil {
		return 0, fmt.Errorf("%w, or `off`", err)
	}
	return n, nil
}

// allowance is an amount of zero or more, absolute or in percent.
func (v value) allowance() (Allowance, error) {
	text, percent := strings.CutSuffix(strings.TrimSpace(v.text), "%")
	number, err := score.ParseValue(text)
	if v.kind != scalar || err != nil || number.Sign() < 0 {
		return Allowance{}, fmt.Errorf("%q is no amount; accepted are forms such as `0.01` and `5%%`", clip(v.text))
	}
	return Allowance{Value: number, Percent: percent}, nil
}

func clip(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// nearest suggests the known key that an unknown one was meant for.
func nearest(key string) string {
	squeezed := strings.ReplaceAll(strings.ToLower(key), "-", "")
	for known := range keys {
		if strings.ReplaceAll(known, "-", "") == squeezed {
			return fmt.Sprintf("; did you mean `%s`?", known)
		}
	}
	return ""
}
