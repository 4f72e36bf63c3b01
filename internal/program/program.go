// Package program reads program files: YAML frontmatter and a few markdown
// sections that say what to improve, which files may change, and how the
// result is measured. It is pure; finding the files is another package's work.
package program

import (
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/loop/strategy"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/tasks"
)

// EvaluationKind says how a candidate is evaluated.
type EvaluationKind string

// The kinds of evaluation.
const (
	Metric EvaluationKind = "metric" // a command prints a number
	Skill  EvaluationKind = "skill"  // an eval suite of a skill directory
	Tasks  EvaluationKind = "tasks"  // a suite of sandboxed tasks
)

const defaultPlateau = 5

// SearchPlateau is the default plateau of a search that needs many attempts:
// the tuner's, and a population's.
const SearchPlateau = 50

// Program is one program file. What is wrong with it is in Problems; the other
// fields hold what could be read, or the defaults.
type Program struct {
	// Name is a slug; the branch autoloop/Name belongs to the program.
	Name string
	// File is the path as people know it, with slashes; Issue the number of an
	// issue program, else 0.
	File  string
	Issue int
	// Source is the text of an issue program; "" for a file.
	Source string
	// Problems are the errors and warnings, in the order of their lines.
	Problems Problems
	// Unconfigured says that the template was not filled in; Placeholder is the
	// line that shows it.
	Unconfigured bool
	Placeholder  int

	Schedule       Schedule
	Direction      metric.Direction
	DirectionGiven bool
	Target         *metric.Value // target-metric; nil when open-ended
	Metric         string        // key of the metric; "" for the only number
	Range          *Range
	Guardrails     []decision.Guardrail

	Evaluation          EvaluationKind
	Skill, Evals, Tasks string
	Runs                int // evaluation-runs; 0 is auto
	MinImprovement      decision.Allowance
	Confidence          float64
	Thresholds          tasks.Thresholds
	NoCaseRegression    bool
	Judge, JudgeModel   string
	// Executor works on the cases and tasks of a suite, "" is who proposes;
	// ExecutorCommand is its command when it is the agent `command`.
	Executor, ExecutorCommand string
	// Plateau is how many rejections in a row pause the program, 0 for never.
	// When the program does not say (PlateauGiven), PlateauFor knows it for the
	// agent that really proposes.
	Plateau           int
	PlateauGiven      bool
	StopAfterReverts  int // reverts in a row that end one run; 0 is off
	Timeout           time.Duration
	EvaluationTimeout time.Duration
	TimeLimitGiven    bool // EvaluationTimeout is the program's own
	Jobs              int
	Setup             string
	// Start is the command of the server that a skill's cases ask.
	Start               string
	Share, Env          []string
	PassConfig          []string // tools whose configuration the evaluation is given, sorted
	Network             bool
	Isolation           string
	Agent               string
	Agents              []Proposer
	Model, AgentCommand string
	Candidates          int
	Strategy            string
	// Budgets holds at most one for each span.
	Budgets             []Budget
	UnknownCost         string
	CIGate, CIWorkflow  string
	CIWait, CITimeout   time.Duration
	TrustedAssociations []string
	// Comments is "accepted" or "all": the iterations that are commented on.
	Comments    string
	PullRequest PullRequest

	Goal string
	// Script is the evaluation as one shell script, or "".
	Script string
	// Targets are the patterns of files that may change, Protected those that
	// may not although a target matches them.
	Targets, Protected []Pattern
	// Prose are words that look like paths and name nothing; Resolve finds them.
	Prose []Pattern

	settings     bool // of a suite: neither skill nor tasks must be named
	targetsGiven bool // Targets are those of the frontmatter
	directionBad bool // metric_direction is there and cannot be read
	// textDirection is what the text says is better, "" for nothing, where the
	// frontmatter gives no direction.
	textDirection metric.Direction
}

// PlateauFor returns the plateau for the agent that proposes: what the program
// says, else more patience for a search of many attempts.
func (p *Program) PlateauFor(agent string) int {
	if !p.PlateauGiven && (agent == "tuner" || strategy.All().Named(p.Strategy).Evolves) {
		return SearchPlateau
	}
	if !p.PlateauGiven && p.Evaluation == Skill {
		return skillReverts
	}
	return p.Plateau
}

// skillReverts is how many reverts in a row end a run of a skill program, and
// pause it, when it does not say.
const skillReverts = 3

// Proposer is one of several agents that take turns. Model is its own; "" is the
// program's.
type Proposer struct{ Agent, Model string }

// Range bounds what a metric can plausibly be, both ends included.
type Range struct{ Min, Max metric.Value }

// Meaning is what makes two numbers of a program comparable: the values of all
// keys that change what a number means, and the evaluation script. Its JSON is
// hashed into every event of the ledger: names, order and omitted fields stay
// as they are, and a key that is added later goes into More.
type Meaning struct {
	Script, Setup, Metric, Direction, Kind string
	Range                                  *Range
	Guardrails                             []decision.Guardrail

	// Of suites alone.
	Suite, Judge, Executor string            `json:",omitempty"`
	Thresholds             *tasks.Thresholds `json:",omitempty"`

	More map[string]any `json:",omitempty"`
}

// Meaning returns what the program's numbers mean, as its keys say.
func (p *Program) Meaning() Meaning {
	m := Meaning{
		Script: p.Script, Setup: p.Setup, Metric: p.Metric, Direction: p.Direction.String(),
		Kind: string(p.Evaluation), Range: p.Range, Guardrails: p.Guardrails, More: map[string]any{},
	}
	if p.Evaluation != Metric {
		m.Suite, m.Judge = p.Tasks+p.Skill+" "+p.Evals, p.Judge+" "+p.JudgeModel
		m.Executor, m.Thresholds = p.Executor+" "+p.WorkerCommand(), &p.Thresholds
	}
	if p.Start != "" {
		m.More["start"] = p.Start
	}
	// Another mirror may serve other versions. The files' content is not part of it,
	// since it may be a login that is renewed.
	if len(p.PassConfig) > 0 {
		m.More["PassConfig"] = p.PassConfig
	}
	return m
}
