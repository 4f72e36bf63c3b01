package suite

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// What an eval suite may hold.
const (
	maxEvalFile     = 4 << 20
	maxCases        = 500
	maxExpectations = 200
	maxStaged       = 200
	maxExpectation  = 8 << 10
)

// evalReader reads an evals.json.
type evalReader struct {
	*reader
	isFile func(string) bool
	suite  EvalSuite
	ids    map[string]bool
}

// ParseEvals reads an evals.json: an object with `evals`, or the bare list. The
// file's name is for messages; isFile says whether a clean path from the
// skill's directory is a file. The problems are all there are; with any of them,
// run nothing.
func ParseEvals(file string, data []byte, isFile func(path string) bool) (EvalSuite, Problems) {
	reader, root, ok := readAny(file, data, maxEvalFile)
	e := &evalReader{reader: reader, isFile: isFile, ids: map[string]bool{}}
	if !ok {
		return EvalSuite{}, e.problems
	}
	if root.kind == listKind {
		e.cases(root, "")
	} else {
		e.object(root, "", map[string]func(node, string){
			"skill_name": func(n node, key string) { e.suite.SkillName = e.text(n, key, maxName) },
			"evals":      e.cases,
		}, false, "evals")
	}
	if len(e.problems) > 0 {
		return EvalSuite{}, e.problems
	}
	return e.suite, nil
}

func (e *evalReader) cases(n node, key string) {
	if n.kind == listKind && len(n.items) == 0 {
		e.fail(n, key, "has no case; give at least one prompt with something to check")
	}
	e.list(n, key, maxCases, e.one)
}

// one reads one case.
func (e *evalReader) one(n node, key string) {
	if !e.is(n, key, objectKind) {
		return
	}
	c, given := &EvalCase{}, false // anything to check, readable or not
	expectations := func(n node, key string) {
		given = given || n.kind != listKind || len(n.items) > 0
		e.expectations(c, n, key)
	}
	e.object(n, key, map[string]func(node, string){
		"id":              func(n node, key string) { c.ID = e.id(n, key) },
		"prompt":          func(n node, key string) { c.Prompt = e.text(n, key, maxText) },
		"expected_output": func(n node, key string) { c.ExpectedOutput = e.words(n, key) },
		"files":           func(n node, key string) { e.files(c, n, key) },
		"expectations":    expectations,
		"assertions":      expectations,
		"deterministic_checks": func(n node, key string) {
			given = given || n.kind != listKind || len(n.items) > 0
			e.checks(c, n, key)
		},
	}, false, "id", "prompt")
	if !given {
		e.fail(n, key, "has nothing to check; give `expectations` or `deterministic_checks`")
	}
	e.suite.Cases = append(e.suite.Cases, *c)
}

// words reads a text that may be blank, or null.
func (e *evalReader) words(n node, key string) string {
	if n.kind == nullKind || n.kind == textKind && strings.TrimSpace(n.text) == "" {
		return ""
	}
	return e.text(n, key, maxText)
}

// id reads a number or a text that can name a directory.
func (e *evalReader) id(n node, key string) string {
	id := n.text
	if n.kind != numberKind {
		id = e.text(n, key, maxName)
	}
	if id == "" {
		return ""
	}
	if !nameForm.MatchString(id) || strings.Contains(id, "..") || strings.HasSuffix(id, ".") {
		e.fail(n, key, "%s cannot name a directory: give a number, or letters, digits, `.`, `_` and `-`", quote(id))
		return ""
	}
	if lower := strings.ToLower(id); e.ids[lower] {
		e.fail(n, key, "%s is there twice; every case needs its own", quote(id))
	} else {
		e.ids[lower] = true
	}
	return id
}

// expectations reads texts, or objects with a `text`.
func (e *evalReader) expectations(c *EvalCase, n node, key string) {
	e.list(n, key, maxExpectations, func(n node, key string) {
		text := ""
		if n.kind == objectKind {
			take := func(n node, key string) { text = e.text(n, key, maxExpectation) }
			named := map[string]func(node, string){"text": take, "expectation": take, "assertion": take}
			e.object(n, key, named, false)
			if !slices.ContainsFunc(n.fields, func(f field) bool { return named[f.name] != nil }) {
				e.fail(n, key, "has no `text`")
			}
		} else {
			text = e.text(n, key, maxExpectation)
		}
		if text = strings.TrimSpace(text); text == "" {
			return
		}
		if slices.Contains(c.Expectations, text) {
			e.fail(n, key, "%s is there twice; remove one", quote(text))
			return
		}
		c.Expectations = append(c.Expectations, text)
	})
}

// files reads the inputs of a case, as paths from the skill's directory or from
// its evals/.
func (e *evalReader) files(c *EvalCase, n node, key string) {
	e.list(n, key, maxStaged, func(n node, key string) {
		text := e.text(n, key, maxPath)
		if text == "" {
			return
		}
		place, ok := inside(".", text)
		if !ok || place == "." {
			e.fail(n, key, "%s leads out of the skill; give a path relative to it, with slashes", quote(text))
			return
		}
		if below, _ := inside(EvalDir, text); !e.isFile(place) && e.isFile(below) {
			place = below
		}
		if !e.isFile(place) {
			e.fail(n, key, "there is no file %s in the skill, nor in its evals/", quote(text))
			return
		}
		if ofSuites(place) {
			e.fail(n, key, "%s is what the case is graded by, which its executor must not see; give another file", quote(text))
			return
		}
		staged := StagedFile{From: place, To: strings.TrimPrefix(place, EvalDir+"/")}
		if staged.To == OutputsDir || strings.HasPrefix(staged.To, OutputsDir+"/") || strings.HasPrefix(staged.To, ".") {
			e.fail(n, key, "%s would stand at %s, where results or settings belong; rename it", quote(text), quote(staged.To))
			return
		}
		if slices.ContainsFunc(c.Files, func(f StagedFile) bool { return strings.EqualFold(f.To, staged.To) }) {
			e.fail(n, key, "%s is there twice; remove one", quote(text))
			return
		}
		c.Files = append(c.Files, staged)
	})
}

// ofSuites reports whether a path of the skill is one of its suites.
func ofSuites(name string) bool {
	return slices.ContainsFunc([]string{EvalFile, TriggerFile, AnswerFile}, func(own string) bool { return strings.EqualFold(name, own) })
}

// OutputsDir is the directory of a sandbox in which results belong.
const OutputsDir = "outputs"

// ParseTriggers reads a trigger-eval.json: a list of queries.
func ParseTriggers(file string, data []byte) ([]Trigger, Problems) {
	r, root, ok := readAny(file, data, maxEvalFile)
	if !ok {
		return nil, r.problems
	}
	var triggers []Trigger
	r.list(root, "", maxCases, func(n node, key string) {
		var t Trigger
		r.object(n, key, map[string]func(node, string){
			"query":          func(n node, key string) { t.Query = r.text(n, key, maxText) },
			"should_trigger": func(n node, key string) { t.ShouldTrigger = r.truth(n, key) },
		}, false, "query", "should_trigger")
		if slices.ContainsFunc(triggers, func(other Trigger) bool { return other.Query == t.Query && t.Query != "" }) {
			r.fail(n, key, "the query %s is there twice; remove one", quote(t.Query))
		}
		triggers = append(triggers, t)
	})
	if root.kind == listKind && len(root.items) == 0 {
		r.fail(root, "", "has no query")
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return triggers, nil
}

// plainValue turns a node into what encoding/json makes of it with UseNumber.
func plainValue(n node) any {
	switch n.kind {
	case textKind:
		return n.text
	case numberKind:
		return json.Number(cmp.Or(n.text, "0"))
	case truthKind:
		return n.truth
	case listKind:
		list := []any{}
		for _, item := range n.items {
			list = append(list, plainValue(item))
		}
		return list
	case objectKind:
		object := map[string]any{}
		for _, f := range n.fields {
			object[f.name] = plainValue(f.value)
		}
		return object
	default:
		return nil
	}
}
