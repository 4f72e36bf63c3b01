package format

import (
	"regexp"
	"time"

	"github.com/org/autoloop/internal/metric"
)

// DefaultTimeout bounds a task that does not say `timeoutMs`.
const DefaultTimeout = 120 * time.Second

// Task is one task of a suite, as its task.json says it. Parse returns only
// tasks that are valid: texts are not empty, paths are clean and stay inside.
type Task struct {
	// File is the path of the task.json in the suite, with slashes.
	File string
	// ID is unique in the suite: letters, digits, '.', '_' and '-'.
	ID    string
	Title string
	// Agent names who works on it; "" is the run's agent.
	Agent string
	// Fixture is the directory that the sandbox is a copy of: a clean path with
	// slashes from the suite's root, "." for the root itself.
	Fixture string
	// Prompt is what the agent is told.
	Prompt string
	// Checks are run in order after the agent; none at all is a task that only
	// a judge and the cost tell apart.
	Checks []Check
	// Rubric is for the judge, or nil.
	Rubric *Rubric
	// Timeout bounds the whole task, agent and checks together.
	Timeout time.Duration
}

// CheckKind says what a check looks at.
type CheckKind string

// The kinds of checks.
const (
	// CommandCheck runs Command in the sandbox; see ExpectExitZero.
	CommandCheck CheckKind = "command"
	// TestSuiteCheck runs Command in the sandbox; it passes on exit code 0.
	TestSuiteCheck CheckKind = "testSuite"
	// FileExists passes when Path is there.
	FileExists CheckKind = "fileExists"
	// FileContains passes when the file at Path has Substring in it.
	FileContains CheckKind = "fileContains"
	// FileNotContains passes when the file at Path is there without Substring.
	FileNotContains CheckKind = "fileNotContains"
	// RegexMatch passes when Pattern matches somewhere in the file at Path.
	RegexMatch CheckKind = "regexMatch"
	// DiffContains passes when the agent's diff has Substring in it.
	DiffContains CheckKind = "diffContains"
)

// Check is one objective check; only the fields of its kind are set.
type Check struct {
	Kind CheckKind
	// Command is one shell command, for CommandCheck and TestSuiteCheck.
	Command string
	// ExpectExitZero says which end of a CommandCheck passes: exit code 0, or
	// any other exit code. A command that was killed, timed out or was not
	// found never passes.
	ExpectExitZero bool
	// Path is a clean path with slashes from the sandbox's root.
	Path string
	// Substring is what is looked for, byte for byte.
	Substring string
	// Pattern is compiled, in Go's (RE2) syntax.
	Pattern *regexp.Regexp
}

// Rubric tells the judge what to look at.
type Rubric struct {
	Criteria string
	// Weight replaces the judge's weight of 0.4 for this task, 0 to 1; nil
	// keeps it.
	Weight *metric.Value
}
