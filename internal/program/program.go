// Package program reads program files: YAML frontmatter and a few markdown
// sections that say what to improve, which files may change, and how the
// result is measured. It is pure; finding the files is another package's work.
package program

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/loop/strategy"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
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

// MaxBytes bounds a program file.
const MaxBytes = 1 << 20

// Parse reads a program file. The name comes from the path: …/NAME/program.md or
// …/NAME.md. The result is never nil.
func Parse(file string, data []byte) *Program {
	p := newProgram(file)
	p.Name = nameOf(file)
	if err := ValidName(p.Name); err != nil {
		p.fail(0, "%v", err)
	}
	p.parse(data)
	return p
}

// Settings reads what a suite of a kind is run with: the keys of a program, none of
// which must be there.
func Settings(file string, data []byte, kind EvaluationKind) *Program {
	p := newProgram(file)
	p.Evaluation, p.settings = kind, true
	p.parse(data)
	if p.Evaluation != kind {
		p.fail(0, "its evaluation is `%s`, and this suite is one of `%s`", p.Evaluation, kind)
	}
	return p
}

// ParseIssue reads a program from the title and the body of an issue. An empty
// slug of the title gives the name issue-<number>.
func ParseIssue(number int, title string, body []byte) *Program {
	p := newProgram(fmt.Sprintf("issue #%d", number))
	p.Issue, p.Source = number, string(body)
	if p.Name = Slug(title); p.Name == "" {
		p.Name = fmt.Sprintf("issue-%d", number)
	}
	p.parse(body)
	return p
}

// Bad returns a program that cannot be read at all, for the list of errors.
func Bad(file, name, message string) *Program {
	p := newProgram(file)
	p.Name = name
	p.fail(0, "%s", message)
	return p
}

func newProgram(file string) *Program {
	return &Program{
		File: file, Direction: metric.Higher, Evaluation: Metric, Confidence: 0.95,
		Thresholds: tasks.DefaultThresholds(),
		Judge:      "auto", Plateau: defaultPlateau, Timeout: 45 * time.Minute,
		EvaluationTimeout: 10 * time.Minute, Jobs: 2,
		Network: true, Isolation: "auto", Candidates: 1, UnknownCost: "allow", CIGate: "auto",
		CIWait: 10 * time.Minute, CITimeout: time.Hour,
		TrustedAssociations: DefaultTrusted(), Comments: "accepted",
		PullRequest: PullRequest{Type: "perf", WhenReady: "stop"},
	}
}

// DefaultTrusted are the associations of people who may write issue programs;
// who may steer a program is its own to say.
func DefaultTrusted() []string { return []string{"OWNER", "MEMBER", "COLLABORATOR"} }

// parse reads frontmatter and body.
func (p *Program) parse(data []byte) {
	defer func() { // those of the whole file first
		slices.SortStableFunc(p.Problems, func(a, b Problem) int { return a.Line - b.Line })
	}()
	if len(data) > MaxBytes {
		p.fail(0, "the file has %d bytes; a program file has at most %d", len(data), MaxBytes)
		return
	}
	data = []byte(newlines.Replace(string(data)))
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if !utf8.Valid(text) {
			p.fail(line, "the line is not UTF-8; save the file as UTF-8")
			return
		}
		if bytes.IndexByte(text, 0) >= 0 {
			p.fail(line, "the line has a NUL byte; a program file is text")
			return
		}
	}
	fields, at := p.header(data)
	if found := sentinelForm().FindIndex(data); found != nil {
		p.placeholder(lineAt(data, found[0]))
	}
	p.readFields(fields)
	if at >= 0 {
		(&body{Program: p, text: data[at:], line: lineAt(data, at)}).read()
	}
}

// newlines makes every line end with LF alone.
var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func lineAt(data []byte, at int) int { return 1 + bytes.Count(data[:at], []byte("\n")) }

// clip bounds a text from the file for a message of one line.
func clip(text string) string { return plain.Short(text, 60) }

func clipLine(text string) string { return plain.Short(text, 160) }

// MaxName is the length of the longest name.
const MaxName = 64

// ValidName reports why name is no slug from which the branch autoloop/<name>
// can be made, and gives the slug that would do.
func ValidName(name string) error {
	if len(name) <= MaxName && nameForm().MatchString(name) && !dots().MatchString(name) &&
		!strings.HasSuffix(name, ".") && !strings.HasSuffix(name, ".lock") {
		return nil
	}
	suggestion := Slug(name)
	cure := fmt.Sprintf("rename it to %q", suggestion)
	if suggestion == "" {
		cure = "use a-z, 0-9, dot, dash and underscore"
	}
	return fmt.Errorf("name %.60q is no slug ([a-z0-9][a-z0-9._-]{0,%d}, no `..`, no `.` or `.lock` at the end); %s",
		name, MaxName-1, cure)
}

var (
	nameForm = lazyregexp.New(`^[a-z0-9][a-z0-9._-]*$`)
	notName  = lazyregexp.New(`[^a-z0-9._]+`)
	dots     = lazyregexp.New(`\.\.+`)
)

// Slug turns a title into a name; "" when nothing of it can be used.
func Slug(title string) string {
	slug := dots().ReplaceAllString(notName().ReplaceAllString(strings.ToLower(title), "-"), ".")
	slug = strings.TrimLeft(slug, "-._")
	slug = slug[:min(len(slug), MaxName)]
	for before := ""; slug != before; {
		before, slug = slug, strings.TrimSuffix(strings.TrimRight(slug, "-._"), ".lock")
	}
	return slug
}

// nameOf is the name that a file's path gives: …/NAME/program.md, …/NAME.md,
// and `program` for a single program.md of a repository.
func nameOf(file string) string {
	base := path.Base(file)
	if base != "program.md" {
		return strings.TrimSuffix(base, ".md")
	}
	switch dir := path.Base(path.Dir(file)); dir {
	case ".autoloop", ".", "/":
		return "program"
	default:
		return dir
	}
}
