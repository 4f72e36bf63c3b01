package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
)

// Severity says whether a problem stops the program.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Problem is one thing that is wrong with a program file.
type Problem struct {
	// File is the program's file, or the address of its issue.
	File string `json:"file"`
	// Line is where in the file, from 1; 0 is no line.
	Line     int      `json:"line"`
	Severity Severity `json:"-"`
	// Message is one line that says what is wrong and what is accepted.
	Message string `json:"message"`
	// Contradiction marks an error that is only a warning for a program
	// whose state says the direction.
	Contradiction bool `json:"-"`
}

// String renders the problem as "file:line: message", on one line.
func (p Problem) String() string {
	place := plain.Line(p.File)
	if p.Line > 0 {
		place += fmt.Sprintf(":%d", p.Line)
	}
	return place + ": " + plain.Line(p.Message)
}

// Problems are several; as an error they are a mistake of the caller, a line each.
type Problems []Problem

// Error has a line for each.
func (list Problems) Error() string {
	return strings.Join(lists.Map(list, Problem.String), "\n")
}

// Err is nil without any.
func (list Problems) Err() error {
	if len(list) == 0 {
		return nil
	}
	return misuse.New(list)
}

// Certain are those that no state can settle.
func (list Problems) Certain() Problems {
	return list.without(func(one Problem) bool { return one.Contradiction })
}

func (list Problems) without(drop func(Problem) bool) Problems {
	return slices.DeleteFunc(slices.Clone(list), drop)
}

// problem is one of the program.
func (p *Program) problem(severity Severity, line int, format string, args ...any) Problem {
	return Problem{File: p.File, Line: line, Severity: severity, Message: fmt.Sprintf(format, args...)}
}

func (p *Program) fail(line int, format string, args ...any) {
	p.Problems = append(p.Problems, p.problem(Error, line, format, args...))
}

func (p *Program) warn(line int, format string, args ...any) {
	p.Problems = append(p.Problems, p.problem(Warning, line, format, args...))
}

// Err returns all errors of the program joined, nil when it may run.
func (p *Program) Err() error { return p.Errors().Err() }

// Errors and Warnings split the problems by severity.
func (p *Program) Errors() Problems { return p.only(Error) }

// Warnings returns the problems that do not stop the program.
func (p *Program) Warnings() Problems { return p.only(Warning) }

func (p *Program) only(severity Severity) Problems {
	return p.Problems.without(func(one Problem) bool { return one.Severity != severity })
}

// GoOn settles the direction of a program whose state says one: what the state
// says holds where text and frontmatter contradict each other, and where
// neither says anything. Calling it again changes nothing.
func (p *Program) GoOn(direction metric.Direction) {
	if p.Evaluation != Metric || p.directionBad {
		return
	}
	warn := func(format string, args ...any) {
		p.warn(0, format, args...)
		p.Problems[len(p.Problems)-1].Contradiction = true
	}
	contradicts := false
	for i, problem := range p.Problems {
		if problem.Contradiction && problem.Severity == Error {
			contradicts = true
			p.Problems[i].Severity = Warning
			p.Problems[i].Message += fmt.Sprintf("; it goes on with %s, as its state says", direction)
		}
	}
	switch {
	case contradicts:
		p.Direction = direction
	case p.DirectionGiven || p.Direction == direction:
	case p.textDirection == "":
		p.Direction = direction
		warn("metric_direction is not given, and its state says %s, which holds; add the line "+
			"`metric_direction: %s` to the frontmatter", direction, direction)
	default:
		warn("its state says %s and its text %q, which holds: a new baseline begins; add the line "+
			"`metric_direction: %s` to the frontmatter, or correct it",
			direction, p.textDirection.String()+" is better", p.textDirection)
		p.DirectionGiven = true
	}
}

// Disagreements are what is wrong between text, frontmatter and state about the
// direction: errors until GoOn has settled them, warnings then.
func (p *Program) Disagreements(severity Severity) Problems {
	return p.only(severity).without(func(one Problem) bool { return !one.Contradiction })
}

// Missing returns what the program lacks to be run, beyond what choosing among
// programs needs: a target, and for the metric kind an evaluation script. It is
// of use after Parse only. Words that may be files count as targets until
// Resolve has looked.
func (p *Program) Missing() Problems {
	var found Problems
	missing := func(message string) { found = append(found, p.problem(Error, 0, "%s", message)) }
	if len(p.Targets) == 0 {
		missing("no target: name the files that may change in backticks in a section `## Target` (before its first " +
			"\"Do NOT modify\" line), or with `target: [src/*.go]`")
	}
	if p.Evaluation == Metric && p.Script == "" {
		missing("no evaluation: add a section `## Evaluation` with a bash fence whose commands print JSON with the " +
			"metric")
	}
	if p.namesAgent("command") && p.AgentCommand == "" {
		missing("`agent: command` has no command: add a line `agent-command: COMMAND`, or name another agent")
	}
	return found
}

func (p *Program) namesAgent(name string) bool {
	return p.Agent == name && len(p.Agents) == 0 ||
		slices.ContainsFunc(p.Agents, func(one Proposer) bool { return one.Agent == name })
}

// Refusals are all reasons for which an iteration of the program cannot begin,
// as far as its file, the sorted paths of the repository's files and the reach
// of GitHub say; none when it can. Scheduler, validate and iterate ask this.
// The program was read with Parse; words that name no file go to Prose. Nil
// files are not known: then words are taken for files.
func (p *Program) Refusals(files []string, github bool) Problems {
	if files != nil {
		p.Resolve(files)
	}
	found, missing := p.Errors(), p.Missing()
	switch {
	case p.Unconfigured || len(found.Certain()) > 0:
		return found
	case len(missing) > 0:
		return append(found, missing...)
	case files == nil:
	case !p.NothingMayChange(files):
		found = append(append(found, p.Elsewhere(files)...), p.Undecided(files)...)
	default:
		why := "every target is protected as well; remove one of the two"
		if closed := p.ClosedWarnings(); len(closed) > 0 {
			why = closed[0].Message
		}
		found = append(found, p.problem(Error, 0, "nothing may change: %s", why))
	}
	return append(found, p.GateRefusal(github)...)
}

// ClosedWarnings are the targets of the text that stay closed.
func (p *Program) ClosedWarnings() Problems {
	var found Problems
	for _, target := range p.Closed() {
		found = append(found, p.problem(Warning, target.Line, "`%s` is automation of the repository, the program or "+
			"its evaluation, which a sentence opens never; begin a list item with it, or name it in `target:`",
			clip(target.Text)))
	}
	return found
}

// WaitsForCI is why a program does not begin whose last iteration waits for CI
// where GitHub is left out.
const WaitsForCI = "its last iteration waits for CI: give --repo and a token"

// GateRefusal is the problem of a program that needs CI's answer where GitHub
// is left out.
func (p *Program) GateRefusal(github bool) Problems {
	if p.CIGate != "required" || github {
		return nil
	}
	return Problems{p.problem(Error, 0,
		"`ci-gate: required` needs the repository on GitHub: give --repo and a token, or remove the line")}
}

// Runnable reports why a program cannot be iterated that is refused for problems. What is
// unclear about the direction is left out: the state, which is read later, may settle it.
func (p *Program) Runnable(refusals Problems) error {
	problems := refusals.Certain()
	if p.Unconfigured && len(problems) == 0 {
		return misuse.Errorf("%s: the program is not configured yet: replace its placeholders and remove the line %s",
			p.File, Sentinel)
	}
	return problems.Err()
}

// Names lists the names of programs, in their order.
func Names(programs []*Program) []string {
	return lists.Map(programs, func(p *Program) string { return p.Name })
}
