package suite

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// TaskFile is the name of the files that ParseTasks reads.
const TaskFile = "task.json"

// What a suite may hold.
const (
	maxTaskFile = 1 << 20
	MaxTasks    = 1000
)

// ParseTasks reads the task files of a suite, by their paths with slashes from its root, and returns
// its tasks in the order of these paths. isDir reports whether a path is a directory of the suite, and
// not a link to one; the path is clean and relative to the root, which is ".". The error has all
// problems of every file, a line each.
func ParseTasks(files map[string][]byte, isDir func(path string) bool) (tasks []Task, err error) {
	paths := slices.Sorted(maps.Keys(files))
	if len(paths) > MaxTasks {
		return nil, fmt.Errorf("%s: is one task too many; a suite has at most %d",
			plain.Short(paths[MaxTasks], MaxPath), MaxTasks)
	}
	var problems []error
	first := map[string]string{} // id in lower case, because it names directories
	for _, file := range paths {
		root, ok := Read(file, files[file], maxTaskFile, Object)
		t := &taskReader{isDir: isDir, first: first}
		t.task = Task{File: file, Timeout: DefaultTimeout}
		if ok {
			root.Object(Keys{
				"id":         t.id,
				"title":      Filled(&t.task.Title, MaxName),
				"agent":      Into(&t.task.Agent, Name),
				"fixtureDir": t.fixture,
				"prompt":     Filled(&t.task.Prompt, MaxText),
				"checks": func(n Node) {
					n.List(MaxChecks, func(n Node) {
						check, _ := ReadCheck(n, checkKeys, nil, "kind")
						t.task.Checks = append(t.task.Checks, check)
					})
				},
				"judgeRubric": func(n Node) {
					t.task.Rubric = &Rubric{}
					n.Object(Keys{
						"criteria": Filled(&t.task.Rubric.Criteria, MaxText),
						"weight":   Into(&t.task.Rubric.Weight, Node.Fraction),
					}, true, "criteria")
				},
				"timeoutMs": func(n Node) { t.task.Timeout = Time(n, time.Millisecond) },
			}, true, "id", "title", "fixtureDir", "prompt")
		}
		tasks, problems = append(tasks, t.task), append(problems, root.Err())
	}
	return tasks, errors.Join(problems...)
}

// taskReader reads one task.json.
type taskReader struct {
	isDir func(string) bool
	first map[string]string // file by id
	task  Task
}

func (t *taskReader) id(n Node) {
	t.task.ID = Name(n)
	id := strings.ToLower(t.task.ID)
	if before, twice := t.first[id]; twice && id != "" {
		n.Fail("%s is the id of %s too; every task needs its own", Quote(t.task.ID),
			plain.Short(before, MaxPath))
	} else {
		t.first[id] = t.task.File
	}
}

func (t *taskReader) fixture(n Node) {
	text := n.Filled(MaxPath)
	if text == "" {
		return
	}
	place, ok := Inside(path.Dir(t.task.File), text)
	switch {
	case !ok:
		n.Fail("%s leads out of the suite; give a directory in it, relative to this file, with slashes",
			Quote(text))
	case !t.isDir(place):
		n.Fail("there is no directory %s in the suite", Quote(place))
	default:
		t.task.Fixture = place
	}
}

// checkKeys are the keys of each kind of check; those after "|" may be left out.
var checkKeys = map[CheckKind]string{
	CommandCheck:    "kind cmd | expectExitZero",
	TestSuiteCheck:  "kind cmd",
	FileExists:      "kind path",
	FileContains:    "kind path substring",
	FileNotContains: "kind path substring",
	RegexMatch:      "kind path pattern",
	DiffContains:    "kind substring",
}

// DefaultTimeout bounds a task that does not say `timeoutMs`.
const DefaultTimeout = 120 * time.Second

// Task is one task of a suite, as its task.json says it. ParseTasks returns only
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

// Rubric tells the judge what to look at.
type Rubric struct {
	Criteria string
	// Weight replaces the judge's weight of 0.4 for this task, 0 to 1; nil
	// keeps it.
	Weight *metric.Value
}
