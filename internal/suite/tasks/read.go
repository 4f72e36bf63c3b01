package tasks

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite"
)

// TaskFile is the name of the files that Parse reads.
const TaskFile = "task.json"

// What a suite may hold.
const (
	maxTaskFile = 1 << 20
	maxTasks    = 1000
)

// File is one file of a suite: its path with slashes from the suite's root,
// and what is in it.
type File struct {
	Path string
	Data []byte
}

// Parse reads the task files of a suite and returns its tasks in the order of
// their paths. isDir says what of the suite is a directory (a link is none);
// its argument is a clean path from the root, "." for the root itself. The
// problems are all there are, in every file; with any of them, run nothing.
func Parse(files []File, isDir func(path string) bool) (tasks []Task, problems document.Problems) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	if len(files) > maxTasks {
		return nil, document.Problems{{
			File:    files[maxTasks].Path,
			Message: "is one task too many; a suite has at most 1000",
		}}
	}
	first := map[string]string{} // id in lower case, because it names directories
	for _, file := range files {
		root, ok := document.Read(file.Path, file.Data, maxTaskFile, document.Object)
		t := &taskReader{isDir: isDir, first: first}
		t.task = Task{File: file.Path, Timeout: DefaultTimeout}
		if ok {
			root.Object(document.Keys{
				"id":         t.id,
				"title":      document.Filled(&t.task.Title, suite.MaxName),
				"agent":      document.Into(&t.task.Agent, suite.Name),
				"fixtureDir": t.fixture,
				"prompt":     document.Filled(&t.task.Prompt, suite.MaxText),
				"checks": func(n document.Node) {
					n.List(suite.MaxChecks, func(n document.Node) {
						check, _ := suite.ReadCheck(n, checkKeys, nil, "kind")
						t.task.Checks = append(t.task.Checks, check)
					})
				},
				"judgeRubric": func(n document.Node) {
					t.task.Rubric = &Rubric{}
					n.Object(document.Keys{
						"criteria": document.Filled(&t.task.Rubric.Criteria, suite.MaxText),
						"weight":   document.Into(&t.task.Rubric.Weight, document.Node.Fraction),
					}, true, "criteria")
				},
				"timeoutMs": func(n document.Node) { t.task.Timeout = suite.Time(n, time.Millisecond) },
			}, true, "id", "title", "fixtureDir", "prompt")
		}
		tasks, problems = append(tasks, t.task), append(problems, root.Problems...)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return tasks, nil
}

// taskReader reads one task.json.
type taskReader struct {
	isDir func(string) bool
	first map[string]string // file by id
	task  Task
}

func (t *taskReader) id(n document.Node) {
	t.task.ID = suite.Name(n)
	id := strings.ToLower(t.task.ID)
	if before, twice := t.first[id]; twice && id != "" {
		n.Fail("%s is the id of %s too; every task needs its own", document.Quote(t.task.ID),
			plain.Short(before, document.MaxPath))
	} else {
		t.first[id] = t.task.File
	}
}

func (t *taskReader) fixture(n document.Node) {
	text := n.Filled(document.MaxPath)
	if text == "" {
		return
	}
	place, ok := document.Inside(path.Dir(t.task.File), text)
	switch {
	case !ok:
		n.Fail("%s leads out of the suite; give a directory in it, relative to this file, with slashes",
			document.Quote(text))
	case !t.isDir(place):
		n.Fail("there is no directory %s in the suite", document.Quote(place))
	default:
		t.task.Fixture = place
	}
}

// checkKeys are the keys of each kind of check; those after "|" may be left out.
var checkKeys = map[suite.CheckKind]string{
	suite.CommandCheck:    "kind cmd | expectExitZero",
	suite.TestSuiteCheck:  "kind cmd",
	suite.FileExists:      "kind path",
	suite.FileContains:    "kind path substring",
	suite.FileNotContains: "kind path substring",
	suite.RegexMatch:      "kind path pattern",
	suite.DiffContains:    "kind substring",
}

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
	Checks []suite.Check
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
