package program

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
)

// The values of keys with a form of their own.

func (v value) schedule() (Schedule, error) {
	text, err := v.scalarText(scheduleForms)
	if err != nil {
		return Schedule{}, err
	}
	return ParseSchedule(text)
}

func (v value) direction() (metric.Direction, error) { return oneOf(metric.Higher, metric.Lower)(v) }

func (p *Program) setDirection(v value) error {
	err := into(&p.Direction, value.direction)(v)
	p.DirectionGiven, p.directionBad = err == nil, err != nil
	return err
}

// path is one within the repository.
func (v value) path() (string, error) {
	text, err := oneLine("give a path from the repository's root")(v)
	if err != nil {
		return "", err
	}
	return cleanPath(text)
}

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

func (v value) association() (string, error) {
	accepted := "accepted are " + strings.Join(associations, ", ")
	name, err := oneLine(accepted)(v)
	if name = strings.ToUpper(name); err == nil && !slices.Contains(associations, name) {
		err = fmt.Errorf("%q is no association; %s", clip(name), accepted)
	}
	return name, err
}

// setAssociations reads whom the maintainers trust. An issue cannot say that
// of its own author.
func (p *Program) setAssociations(v value) error {
	names, err := words("OWNER, MEMBER", value.association)(v)
	switch {
	case err != nil:
	case p.Issue > 0:
		p.warn(v.Line, "`trusted-associations` in an issue is ignored: an issue cannot say who is trusted")
	default:
		p.TrustedAssociations = names
	}
	return err
}

// knownAgents are those of this version; another name is an error, as it is where an agent is asked.
func knownAgents() []string {
	return slices.Concat([]string{"command"}, commandline.All().Names(), []string{"models", "tuner"})
}

func (v value) agent() (string, error) {
	known := strings.Join(knownAgents(), ", ")
	name, err := oneLine("give the name of an agent: " + known)(v)
	if err == nil && !slices.Contains(knownAgents(), name) {
		err = fmt.Errorf("`%s` is no agent known here; known are %s", clip(name), known)
	}
	return name, err
}

const agentsForm = "give a list of agents, as in `[claude, {agent: codex, model: gpt-5}]`"

// proposer is the name of an agent, or an agent with a model of its own.
func (p *Program) proposer(v value) (one Proposer, err error) {
	switch {
	case v.isScalar():
		one.Agent, err = v.agent()
		return one, err
	case v.Kind == yaml.MappingNode:
		err = p.readParts(v, " of an agent",
			part{"agent", into(&one.Agent, value.agent)},
			part{"model", into(&one.Model, oneLine("give the name of a model"))})
		if err != nil || one.Agent != "" {
			return one, err
		}
		return one, fmt.Errorf("it names no `agent`; %s", agentsForm)
	default:
		return one, fmt.Errorf("%s", agentsForm)
	}
}

const guardrailForm = "give a list of `{metric: lag, direction: lower, max-regression: 5%}`"

func (p *Program) guardrail(v value) (rail decision.Guardrail, err error) {
	if v.Kind != yaml.MappingNode {
		return rail, fmt.Errorf("%s", guardrailForm)
	}
	const accepted = "the key of a number in the evaluation's JSON"
	direction := into(&rail.Direction, value.direction)
	err = p.readParts(v, " of a guardrail", part{"metric", into(&rail.Metric, oneLine("give "+accepted))},
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
	if v.Kind != yaml.MappingNode {
		return fmt.Errorf("give a map such as `{labels: [performance], reviewers: [octocat]}`")
	}
	texts := func(example string) read[[]string] { return words(example, oneLine("give a text")) }
	pull := &p.PullRequest
	return p.readParts(v, " of `pull-request`",
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
