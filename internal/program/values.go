package program

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
)

// read makes something of a value. An error says what stands there and what is accepted;
// the caller adds the key.
type read[T any] func(value) (T, error)

// into reads a value into a place, which stays as it is when that fails.
func into[T any](to *T, read read[T]) func(value) error {
	return func(v value) error {
		found, err := read(v)
		if err == nil {
			*to = found
		}
		return err
	}
}

// some has what is read as a pointer: nil is a key that is not given.
func some[T any](read read[T]) read[*T] {
	return func(v value) (*T, error) {
		found, err := read(v)
		return &found, err
	}
}

// listOf reads every item of a list, of which there is one at least.
func listOf[T any](accepted string, read read[T]) read[[]T] {
	return func(v value) (all []T, err error) {
		if len(v.items()) == 0 {
			return nil, errors.New(accepted)
		}
		for _, item := range v.items() {
			found, err := read(item)
			if err != nil {
				return nil, at(item.Line, err)
			}
			all = append(all, found)
		}
		return all, nil
	}
}

// words reads every item of a list that may be empty.
func words[T any](example string, read read[T]) read[[]T] {
	return func(v value) ([]T, error) {
		switch text := clip(strings.TrimSpace(v.Value)); {
		case v.isScalar() && text != "":
			return nil, fmt.Errorf("%q is no list; give one, as in `[%s]`", text, text)
		case v.Kind == yaml.SequenceNode && len(v.Content) == 0:
			return nil, nil
		}
		return listOf("give a list, as in `["+example+"]`", read)(v)
	}
}

var errEmpty = errors.New("it has no value")

// scalarText returns the text of a scalar, not empty, without spaces around it.
func (v value) scalarText(accepted string) (string, error) {
	var err error
	switch text := strings.TrimSpace(v.Value); {
	case v.Kind == yaml.SequenceNode:
		err = errors.New("it is a list")
	case v.Kind == yaml.MappingNode:
		err = errors.New("it is a mapping")
	case v.isNull(), text == "":
		err = errEmpty
	default:
		return text, nil
	}
	return "", fmt.Errorf("%w; %s", err, accepted)
}

func word(accepted string) read[string] {
	return func(v value) (string, error) { return v.scalarText(accepted) }
}

// then makes something of a text that was read.
func then[T any](text read[string], parse func(text string) (T, error)) read[T] {
	return func(v value) (result T, err error) {
		found, err := text(v)
		if err == nil {
			result, err = parse(found)
		}
		return result, err
	}
}

func oneLine(accepted string) read[string] {
	return func(v value) (string, error) {
		text, err := v.scalarText(accepted)
		if err == nil && strings.ContainsAny(text, "\n\r") {
			err = fmt.Errorf("it has more than one line; %s", accepted)
		}
		return text, err
	}
}

func refused(text, accepted string) error {
	return fmt.Errorf("%q is not accepted; %s", clip(text), accepted)
}

func oneOf[T ~string](choices ...T) read[T] {
	var names []string
	for _, choice := range choices {
		names = append(names, string(choice))
	}
	accepted := "accepted are `" + strings.Join(names, "`, `") + "`"
	return then(word(accepted), func(text string) (T, error) {
		same := func(name string) bool { return strings.EqualFold(name, text) }
		if at := slices.IndexFunc(names, same); at >= 0 {
			return choices[at], nil
		}
		return "", refused(text, accepted)
	})
}

func (v value) truth() (bool, error) {
	text, err := oneOf("true", "false", "yes", "no", "on", "off")(v)
	return text == "true" || text == "yes" || text == "on", err
}

func (v value) number() (metric.Value, error) {
	const accepted = "give a plain number such as 0.95, without a unit"
	text, err := v.scalarText(accepted)
	if err != nil {
		return metric.Value{}, err
	}
	number, err := metric.ParseValue(text)
	if err != nil {
		err = fmt.Errorf("%w; %s", err, accepted)
	}
	return number, err
}

// amount is a number of zero or more.
func (v value) amount() (metric.Value, error) {
	number, err := v.number()
	if err == nil && number.Sign() < 0 {
		err = fmt.Errorf("%s is below 0; give a number of 0 or more", number)
	}
	return number, err
}

func (v value) confidence() (float64, error) {
	amount, err := v.amount()
	c := amount.Float64()
	if err == nil && (c < 0.5 || c >= 1) {
		err = fmt.Errorf("%g is not accepted; give a number from 0.5 to below 1, such as 0.95", c)
	}
	return c, err
}

func (v value) bounds() (Range, error) {
	const accepted = "give two numbers, the smaller first, as in `[0, 100]`"
	ends, err := listOf(accepted, value.number)(v)
	switch {
	case err != nil:
		return Range{}, err
	case len(ends) != 2:
		return Range{}, errors.New(accepted)
	case ends[0].Cmp(ends[1]) >= 0:
		return Range{}, fmt.Errorf("%s is not below %s; %s", ends[0], ends[1], accepted)
	}
	return Range{ends[0], ends[1]}, nil
}

func count(most int, or string) read[int] {
	accepted := fmt.Sprintf("give a whole number from 1 to %d%s", most, or)
	return then(word(accepted), func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > most {
			return 0, refused(text, accepted)
		}
		return n, nil
	})
}

// countOr is a count, or 0 for a word.
func countOr(word string, most int) read[int] {
	return func(v value) (int, error) {
		if v.isScalar() && strings.EqualFold(strings.TrimSpace(v.Value), word) {
			return 0, nil
		}
		return count(most, ", or `"+word+"`")(v)
	}
}

// allowance is an amount of zero or more, absolute or in percent.
func (v value) allowance() (decision.Allowance, error) {
	const accepted = "accepted are amounts such as `0.01` and `5%`"
	text, err := v.scalarText(accepted)
	if err != nil {
		return decision.Allowance{}, err
	}
	digits, percent := strings.CutSuffix(text, "%")
	number, err := metric.ParseValue(digits)
	if err != nil || number.Sign() < 0 {
		return decision.Allowance{}, fmt.Errorf("%q is no amount of 0 or more; %s", clip(text), accepted)
	}
	return decision.Allowance{Value: number, Percent: percent}, nil
}

const maxDuration = 30 * 24 * time.Hour

// duration is a time such as 90s, 10m, 1h30m or "30 minutes".
func duration(least time.Duration) read[time.Duration] {
	const accepted = "accepted are times such as `90s`, `10m`, `1h30m`, up to 30 days"
	return then(word(accepted), func(text string) (time.Duration, error) {
		d, err := span(strings.ToLower(text))
		if text == "0" {
			d, err = 0, nil
		}
		if err != nil || d < least || d > maxDuration {
			return 0, refused(text, accepted)
		}
		return d, nil
	})
}

func (v value) minutes() (time.Duration, error) {
	number, err := v.number()
	d := number.Float64() * float64(time.Minute)
	if err == nil && (d > float64(maxDuration) || d < float64(time.Second)) {
		err = fmt.Errorf("%s minutes are not between a second and 30 days", number)
	}
	return time.Duration(math.Round(d)), err
}

// The values of keys with a form of their own.

func (v value) direction() (metric.Direction, error) { return oneOf(metric.Higher, metric.Lower)(v) }

func (p *Program) setDirection(v value) error {
	err := into(&p.Direction, value.direction)(v)
	p.DirectionGiven, p.directionBad = err == nil, err != nil
	return err
}

// inside is a path in the repository.
func inside() read[string] { return then(oneLine("give a path from the repository's root"), cleanPath) }

// given reads a pattern of the frontmatter: a list holds no prose.
func given(parse func(text string, line int) (Pattern, error)) read[Pattern] {
	return func(v value) (pattern Pattern, err error) {
		text, err := oneLine("give a text for each item of the list")(v)
		if err == nil {
			pattern, err = parse(text, v.Line)
		}
		pattern.Bare, pattern.Named = false, true
		return pattern, err
	}
}

// withheld are variables that no agent and no evaluation ever sees, or that it has of its own.
var withheld = lazyregexp.New(`(?i)^(?:(?:GITHUB|GH)_(?:ENTERPRISE_)?TOKEN|AUTOLOOP_(?:TOKEN|MODELS_KEY)|ACTIONS_.*|` +
	`GIT_.*|HOME)$`)

var variableForm = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// variable is the name of a variable that agent and evaluation may see.
func (v value) variable() (string, error) {
	const accepted = "give names only, as in `[API_URL]`"
	name, err := oneLine(accepted)(v)
	switch {
	case err != nil:
	case !variableForm().MatchString(name):
		err = fmt.Errorf("%q is no name of a variable; %s", clip(name), accepted)
	case withheld().MatchString(name):
		err = fmt.Errorf("`%s` is never given to agents and evaluations; remove it", name)
	}
	return name, err
}

var associations = []string{
	"OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR", "FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR",
	"MANNEQUIN", "NONE",
}

// setAssociations reads whom the maintainers trust. An issue cannot say that
// of its own author.
func (p *Program) setAssociations(v value) error {
	names, err := words("OWNER, MEMBER", oneOf(associations...))(v)
	switch {
	case err != nil:
	case p.Issue > 0:
		p.warn(v.Line, "`trusted-associations` in an issue is ignored: an issue cannot say who is trusted")
	default:
		p.TrustedAssociations = names
	}
	return err
}

// agentName is one of those of this version; another name is an error, as it is where an agent is asked.
func agentName() read[string] {
	return oneOf(slices.Concat([]string{"command"}, commandline.All().Names(), []string{"models", "tuner"})...)
}

const agentsForm = "give a list of agents, as in `[claude, {agent: codex, model: gpt-5}]`"

// proposer is the name of an agent, or an agent with a model of its own.
func (p *Program) proposer(v value) (one Proposer, err error) {
	if v.isScalar() {
		one.Agent, err = agentName()(v)
		return one, err
	}
	err = p.readParts(v, " of an agent", agentsForm, part{"agent", into(&one.Agent, agentName())},
		part{"model", into(&one.Model, oneLine("give the name of a model"))})
	if err == nil && one.Agent == "" {
		err = fmt.Errorf("it names no `agent`; %s", agentsForm)
	}
	return one, err
}

const guardrailForm = "give a list of `{metric: lag, direction: lower, max-regression: 5%}`"

func (p *Program) guardrail(v value) (rail decision.Guardrail, err error) {
	const accepted = "the key of a number in the evaluation's JSON"
	direction := into(&rail.Direction, value.direction)
	err = p.readParts(v, " of a guardrail", guardrailForm, part{"metric", into(&rail.Metric, oneLine("give "+accepted))},
		part{"direction", direction}, part{"metric-direction", direction},
		part{"max-regression", into(&rail.MaxRegression, value.allowance)})
	switch {
	case err != nil:
	case rail.Metric == "":
		err = fmt.Errorf("a guardrail needs `metric`, %s", accepted)
	case rail.Direction == "":
		rail.Direction = metric.Higher
		p.warn(v.Line, "guardrail `%s` has no `direction`; `higher` is taken", clip(rail.Metric))
	}
	return rail, err
}

// PullRequest says how a program's pull request is opened.
type PullRequest struct {
	// Title is a template with {name}, {type}, {scope} and {summary}; "" is the
	// usual title. Type is what {type} stands for.
	Title, Type                  string
	Labels, Reviewers, Assignees []string
	// WhenReady is "stop" or "continue": what happens while a person has marked it
	// ready for review.
	WhenReady string
}

func (p *Program) setPullRequest(v value) error {
	texts := func(example string) read[[]string] { return words(example, oneLine("give a text")) }
	pull := &p.PullRequest
	return p.readParts(v, " of `pull-request`", "give a map such as `{labels: [performance], reviewers: [octocat]}`",
		part{"title", into(&pull.Title, oneLine("give a title such as `{type}({scope}): {summary}`"))},
		part{"type", into(&pull.Type, oneLine("give a word such as `perf`"))},
		part{"labels", into(&pull.Labels, texts("performance"))},
		part{"reviewers", into(&pull.Reviewers, texts("octocat, org/team"))},
		part{"assignees", into(&pull.Assignees, texts("octocat"))},
		part{"when-ready", into(&pull.WhenReady, oneOf("stop", "continue"))})
}

// ToolConfig is the configuration that a tool keeps outside of the repository:
// registries, mirrors, certificates.
type ToolConfig struct {
	// Tool is the word that `pass-config` has for it.
	Tool string
	// Variable names its file; "" for a tool that has no such variable.
	Variable string
	// Files are where it is in a home, with slashes.
	Files []string
}

// ToolConfigs are all that a program may ask for. It is a closed list: with
// paths of its own a program could ask for keys and logins.
func ToolConfigs() []ToolConfig {
	return []ToolConfig{
		{"pip", "PIP_CONFIG_FILE", []string{".config/pip/pip.conf", ".pip/pip.conf"}},
		{"uv", "UV_CONFIG_FILE", []string{".config/uv/uv.toml"}},
		{"npm", "NPM_CONFIG_USERCONFIG", []string{".npmrc"}},
		{"yarn", "", []string{".yarnrc.yml", ".yarnrc"}},
		{"go", "GOENV", []string{".config/go/env"}},
		{"bundler", "BUNDLE_USER_CONFIG", []string{".bundle/config"}},
		{"maven", "", []string{".m2/settings.xml"}},
		{"conda", "CONDARC", []string{".condarc"}},
		{"nuget", "", []string{".nuget/NuGet/NuGet.Config"}},
		{"curl", "", []string{".curlrc"}},
	}
}

// tool is the word for a tool whose configuration the evaluation is given.
func (v value) tool() (string, error) {
	var known []string
	for _, one := range ToolConfigs() {
		known = append(known, one.Tool)
	}
	return oneOf(known...)(v)
}

// Budget bounds what a program may use in one span; zero fields are unbounded.
type Budget struct {
	Iterations int
	Tokens     int64
	USD        float64
	Minutes    float64
	Per        Span
}

// Span is what a budget is for.
type Span string

// The spans: one iteration, a calendar day, week (from Monday) or month in UTC,
// or all that the program ever does.
const (
	PerIteration Span = "iteration"
	PerDay       Span = "day"
	PerWeek      Span = "week"
	PerMonth     Span = "month"
	PerProgram   Span = "program"
)

const budgetForm = "give `{iterations: 20, tokens: 1000000, usd: 5, minutes: 60, per: day}`, any of them, with `per` " +
	"iteration, day, week, month or program, or a list of such"

// budgets reads one budget, or a list of them for different spans.
func (p *Program) budgets(v value) ([]Budget, error) {
	if v.Kind != yaml.SequenceNode {
		v = value{&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{v.Node}}}
	}
	budgets, err := listOf(budgetForm, p.budget)(v)
	for i, budget := range budgets {
		if slices.ContainsFunc(budgets[:i], func(other Budget) bool { return other.Per == budget.Per }) {
			err = fault{v.Content[i].Line, fmt.Errorf("there are two budgets per %s; make them one", budget.Per)}
		}
	}
	return budgets, err
}

func (p *Program) budget(v value) (budget Budget, err error) {
	tokens := 0
	err = p.readParts(v, " of the budget", budgetForm,
		part{"iterations", into(&budget.Iterations, count(math.MaxInt32, ""))},
		part{"tokens", into(&tokens, count(math.MaxInt, ""))},
		part{"usd", into(&budget.USD, value.limit)},
		part{"minutes", into(&budget.Minutes, value.limit)},
		part{"per", into(&budget.Per, oneOf(PerDay, PerWeek, PerMonth, PerIteration, PerProgram))})
	budget.Tokens = int64(tokens)
	switch {
	case err != nil:
	case budget == (Budget{Per: budget.Per}):
		err = fmt.Errorf("it limits nothing; %s", budgetForm)
	case budget.Per == PerIteration && budget.Iterations > 0:
		err = errors.New("`iterations` per iteration means nothing; give it per day, week, month or program")
	case budget.Per == "":
		budget.Per = PerMonth
		p.warn(v.Line, "`budget` has no `per`; `month` is taken")
	}
	return budget, err
}

// limit is a number above 0.
func (v value) limit() (float64, error) {
	amount, err := v.amount()
	if err == nil && amount.Sign() == 0 {
		err = errors.New("0 is no limit; give a number above 0, or pause the program in its state")
	}
	return amount.Float64(), err
}
