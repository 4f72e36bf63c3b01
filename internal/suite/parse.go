package suite

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// TaskFile is the name of the files that Parse reads.
const TaskFile = "task.json"

// What a suite may hold.
const (
	maxTaskFile = 1 << 20
	maxTasks    = 1000
	maxChecks   = 200
	maxName     = 200
	maxText     = 256 << 10
	maxCommand  = 64 << 10
	maxPattern  = 8 << 10
	maxTimeout  = 24 * time.Hour
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
func Parse(files []File, isDir func(path string) bool) ([]Task, Problems) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	if len(files) > maxTasks {
		return nil, Problems{{File: files[maxTasks].Path, Message: "is one task too many; a suite has at most 1000"}}
	}
	var tasks []Task
	var problems Problems
	first := map[string]string{} // id in lower case, because it names directories
	for _, file := range files {
		task, found := parseTask(file, isDir)
		problems = append(problems, found.problems...)
		id := strings.ToLower(task.ID)
		if before, twice := first[id]; twice && id != "" {
			problems = append(problems, Problem{File: file.Path, Line: found.idLine, Key: "id", Message: quote(task.ID) + " is the id of " + visible(before, maxPath) + " too; every task needs its own"})
		} else {
			first[id] = file.Path
		}
		tasks = append(tasks, task)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return tasks, nil
}

// taskReader reads one task.json.
type taskReader struct {
	*reader
	idLine int
	dir    string // of the file
	isDir  func(string) bool
	task   Task
}

func parseTask(file File, isDir func(string) bool) (Task, *taskReader) {
	reader, root, ok := newReader(file.Path, file.Data, maxTaskFile)
	t := &taskReader{reader: reader, dir: path.Dir(file.Path), isDir: isDir}
	t.task = Task{File: file.Path, Timeout: DefaultTimeout}
	if ok {
		t.read(root)
	}
	return t.task, t
}

func (t *taskReader) read(root node) {
	t.object(root, "", map[string]func(node, string){
		"id":          t.id,
		"title":       func(n node, key string) { t.task.Title = t.text(n, key, maxName) },
		"agent":       func(n node, key string) { t.task.Agent = t.name(n, key) },
		"fixtureDir":  t.fixture,
		"prompt":      func(n node, key string) { t.task.Prompt = t.text(n, key, maxText) },
		"checks":      func(n node, key string) { t.list(n, key, maxChecks, t.check) },
		"judgeRubric": t.rubric,
		"timeoutMs":   t.timeout,
	}, true, "id", "title", "fixtureDir", "prompt")
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// name reads a text that can name a file on every system.
func (t *taskReader) name(n node, key string) string {
	name := t.text(n, key, maxName)
	if name != "" && (!nameForm.MatchString(name) || strings.Contains(name, "..") || strings.HasSuffix(name, ".")) {
		t.fail(n, key, "%s is no name: letters, digits, `.`, `_` and `-`, beginning with a letter or digit", quote(name))
		return ""
	}
	return name
}

func (t *taskReader) id(n node, key string) {
	t.task.ID, t.idLine = t.name(n, key), n.line
}

func (t *taskReader) fixture(n node, key string) {
	text := t.text(n, key, maxPath)
	if text == "" {
		return
	}
	place, ok := inside(t.dir, text)
	switch {
	case !ok:
		t.fail(n, key, "%s leads out of the suite; give a directory in it, relative to this file, with slashes", quote(text))
	case !t.isDir(place):
		t.fail(n, key, "there is no directory %s in the suite", quote(place))
	default:
		t.task.Fixture = place
	}
}

func (t *taskReader) rubric(n node, key string) {
	var rubric Rubric
	t.object(n, key, map[string]func(node, string){
		"criteria": func(n node, key string) { rubric.Criteria = t.text(n, key, maxText) },
		"weight":   func(n node, key string) { rubric.Weight = t.part(n, key) },
	}, true, "criteria")
	t.task.Rubric = &rubric
}

func (t *taskReader) timeout(n node, key string) {
	value, ok := t.number(n, key).Value()
	if n.kind != numberKind {
		return
	}
	ms := int64(value.Float64())
	if !ok || ms < 1 || ms > maxTimeout.Milliseconds() || !isWhole(value) {
		t.fail(n, key, "is %s; give whole milliseconds, from 1 to %d", visible(n.text, maxShown), maxTimeout.Milliseconds())
		return
	}
	t.task.Timeout = time.Duration(ms) * time.Millisecond
}

// inside resolves a path with slashes against a directory of a tree; ok is
// false when it leads out of the tree or is no plain relative path.
func inside(dir, text string) (clean string, ok bool) {
	if path.IsAbs(text) || strings.ContainsAny(text, "\\:\x00") {
		return "", false
	}
	clean = path.Join(dir, text)
	return clean, clean != ".." && !strings.HasPrefix(clean, "../")
}
