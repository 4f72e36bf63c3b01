package evals

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/suite"
)

// What an eval suite may hold.
const (
	maxEvalFile     = 4 << 20
	maxCases        = 500
	maxExpectations = 200
	maxStaged       = 200
)

// evalReader reads an evals.json.
type evalReader struct {
	suite.Reader
	isFile func(string) bool
	read   EvalSuite
	ids    map[string]bool
}

// Parse reads an evals.json: an object with `evals`, or the bare list. The
// file's name is for messages; isFile says whether a clean path from the
// skill's directory is a file. The problems are all there are; with any of them,
// run nothing.
func Parse(file string, data []byte, isFile func(path string) bool) (EvalSuite, document.Problems) {
	reader, root, ok := document.Read(file, data, maxEvalFile)
	e := &evalReader{Reader: suite.Reader{Reader: reader}, isFile: isFile, ids: map[string]bool{}}
	if !ok {
		return EvalSuite{}, e.Problems
	}
	if root.Type == document.List {
		e.cases(root, "")
	} else {
		e.Object(root, "", document.Keys{
			"skill_name": e.TextInto(&e.read.SkillName, suite.MaxName),
			"evals":      e.cases,
		}, false, "evals")
	}
	if len(e.Problems) > 0 {
		return EvalSuite{}, e.Problems
	}
	return e.read, nil
}

func (e *evalReader) cases(n document.Node, key string) {
	if n.Type == document.List && len(n.Items) == 0 {
		e.Fail(n, key, "has no case; give at least one prompt with something to check")
	}
	e.List(n, key, maxCases, e.one)
}

// one reads one case.
func (e *evalReader) one(n document.Node, key string) {
	if !e.Is(n, key, document.Object) {
		return
	}
	c, given := &Case{}, false // anything to check, readable or not
	expectations := func(n document.Node, key string) {
		given = given || n.Type != document.List || len(n.Items) > 0
		e.expectations(c, n, key)
	}
	known := document.Keys{
		"id":              document.Into(&c.ID, e.id),
		"prompt":          e.TextInto(&c.Prompt, suite.MaxText),
		"expected_output": e.OptionalInto(&c.ExpectedOutput, suite.MaxText),
		"files":           func(n document.Node, key string) { e.files(c, n, key) },
		"expectations":    expectations,
		"assertions":      expectations,
		"deterministic_checks": func(n document.Node, key string) {
			given = given || n.Type != document.List || len(n.Items) > 0
			e.checks(c, n, key)
		},
	}
	e.Object(n, key, known, false, "id", "prompt")
	if !given {
		var names []string // lists under keys that are not read, which may be meant for checks
		for _, f := range n.Fields {
			if known[f.Name] == nil && f.Value.Type == document.List {
				names = append(names, document.Quote(f.Name))
			}
		}
		unread := strings.Join(names, ", ")
		if unread != "" {
			unread = "; not read: " + unread
		}
		e.Fail(n, key, "has nothing to check; give `expectations` or `deterministic_checks`%s", unread)
	}
	e.read.Cases = append(e.read.Cases, *c)
}

// id reads a number or a text that can name a directory.
func (e *evalReader) id(n document.Node, key string) string {
	if n.Type == document.Number {
		n.Type = document.Text
	}
	id := e.Name(n, key)
	if lower := strings.ToLower(id); e.ids[lower] {
		e.Fail(n, key, "%s is there twice; every case needs its own", document.Quote(id))
	} else {
		e.ids[lower] = id != ""
	}
	return id
}

// expectations reads texts, or objects with a `text`.
func (e *evalReader) expectations(c *Case, n document.Node, key string) {
	e.List(n, key, maxExpectations, func(n document.Node, key string) {
		text := ""
		if n.Type == document.Object {
			take := e.TextInto(&text, suite.MaxExpectation)
			named := document.Keys{"text": take, "expectation": take, "assertion": take, "description": take}
			e.Object(n, key, named, false)
			for _, name := range []string{"criteria", "check"} { // what the description means, for the grader
				for _, f := range n.Fields {
					if f.Name == name && f.Value.Type != document.Null && text != "" {
						text += " (" + name + ": " + e.meaning(f.Value, document.Join(key, name)) + ")"
					}
				}
			}
			if !slices.ContainsFunc(n.Fields, func(f document.Field) bool { return named[f.Name] != nil }) {
				e.Fail(n, key, "has no `text`")
			}
		} else {
			text = e.Text(n, key, suite.MaxExpectation)
		}
		if text = strings.TrimSpace(text); text == "" {
			return
		}
		if slices.Contains(c.Expectations, text) {
			e.Fail(n, key, "%s is there twice; remove one", document.Quote(text))
			return
		}
		c.Expectations = append(c.Expectations, text)
	})
}

// meaning is a text, or another value as JSON: it is for the grader, who reads
// both.
func (e *evalReader) meaning(n document.Node, key string) string {
	if n.Type == document.Text {
		return e.Text(n, key, suite.MaxExpectation)
	}
	text, err := json.Marshal(document.Plain(n))
	if err != nil || len(text) > suite.MaxExpectation {
		e.Fail(n, key, "is longer than %d bytes", suite.MaxExpectation)
		return ""
	}
	return string(text)
}

// files reads the inputs of a case, as paths from the skill's directory or from
// its evals/.
func (e *evalReader) files(c *Case, n document.Node, key string) {
	if n.Type == document.Null {
		return
	}
	e.List(n, key, maxStaged, func(n document.Node, key string) {
		text := e.Text(n, key, document.MaxPath)
		if text == "" {
			return
		}
		place, ok := document.Inside(".", text)
		if below, _ := document.Inside(Dir, text); !e.isFile(place) && e.isFile(below) {
			place = below
		}
		staged := StagedFile{From: place, To: strings.TrimPrefix(place, Dir+"/")}
		to := strings.ToLower(staged.To) + "/"
		at := slices.IndexFunc(c.Files, func(f StagedFile) bool { // it, a directory on its way, or one that it is
			other := strings.ToLower(f.To) + "/"
			return strings.HasPrefix(to, other) || strings.HasPrefix(other, to)
		})
		var why string
		switch {
		case !ok || place == ".":
			why = "leads out of the skill; give a path relative to it, with slashes"
		case !e.isFile(place):
			why = "is no file in the skill, nor in its evals/"
		case slices.ContainsFunc([]string{File, TriggerFile, AnswerFile},
			func(own string) bool { return strings.EqualFold(place, own) }):
			why = "is what the case is graded by, which its executor must not see; give another file"
		case strings.HasPrefix(to, suite.OutputsDir+"/"), strings.HasPrefix(to, "."):
			why = "would stand where results or settings belong; rename it"
		case at >= 0:
			why = "would stand where " + document.Quote(c.Files[at].To) + " does; remove or rename one"
		default:
			c.Files = append(c.Files, staged)
			return
		}
		e.Fail(n, key, "%s %s", document.Quote(text), why)
	})
}

// defaultTimeout bounds a shell_command that does not say `timeout`.
const defaultTimeout = 30 * time.Second

// ParseTriggers reads a trigger-eval.json: a list of queries.
func ParseTriggers(file string, data []byte) ([]Trigger, document.Problems) {
	r, root, ok := document.Read(file, data, maxEvalFile)
	if !ok {
		return nil, r.Problems
	}
	var triggers []Trigger
	r.List(root, "", maxCases, func(n document.Node, key string) {
		var t Trigger
		r.Object(n, key, document.Keys{
			"query":          r.TextInto(&t.Query, suite.MaxText),
			"should_trigger": document.Into(&t.ShouldTrigger, r.Truth),
		}, false, "query", "should_trigger")
		triggers = append(triggers, t)
	})
	if root.Type == document.List && len(root.Items) == 0 {
		r.Fail(root, "", "has no query")
	}
	if len(r.Problems) > 0 {
		return nil, r.Problems
	}
	return triggers, nil
}

// evalKeys are the keys of each kind of check; those after "|" may be left out.
func evalKeys() map[suite.CheckKind]string {
	return map[suite.CheckKind]string{
		suite.JSONValid:         "file | description",
		suite.JSONFieldEquals:   "file path value | description",
		suite.JSONFieldExists:   "file path | description",
		suite.JSONFieldAbsent:   "file path | description",
		suite.JSONFieldMatches:  "file path pattern | description",
		suite.JSONFieldCount:    "file path value | description operator",
		suite.JSONArrayContains: "file path | description value match",
		suite.OutputExists:      "file | description",
		suite.OutputNotExists:   "file | description",
		suite.OutputContains:    "file text | description",
		suite.OutputNotContains: "file text | description",
		suite.OutputMatches:     "file pattern | description",
		suite.ShellCommand:      "command | description timeout",
	}
}

// spell gives the keys of a check their one name.
func (e *evalReader) spell(n document.Node, key string, kind suite.CheckKind) document.Node {
	others := map[string]string{
		"name": "description", "label": "description", "kind": "type",
		"timeout_seconds": "timeout", "op": "operator", "expected": "value", "regex": "pattern",
	}
	switch {
	case kind.Reads():
		others["field"], others["json_path"], others["count"] = "path", "path", "value"
	case kind == suite.OutputContains || kind == suite.OutputNotContains:
		others["value"], others["literal"], others["substring"] = "text", "text", "text"
		if n.Has("literal") && !n.Has("description") && !n.Has("name") { // the text beside it is the check's label
			others["text"] = "description"
		}
		fallthrough
	default:
		others["path"] = "file"
	}
	fields, seen := slices.Clone(n.Fields), map[string]string{}
	for i, f := range fields {
		name := cmp.Or(others[f.Name], f.Name)
		if before, twice := seen[name]; twice && before != f.Name {
			e.Fail(f.Value, document.Join(key, f.Name), "is `%s` under another name; remove one", before)
		}
		fields[i].Name, seen[name] = name, f.Name
	}
	n.Fields = fields
	return n
}

// checks reads the deterministic checks of a case.
func (e *evalReader) checks(c *Case, n document.Node, key string) {
	e.List(n, key, suite.MaxChecks, func(n document.Node, key string) {
		check, ok := e.Check(n, key, evalKeys(), func(n document.Node, kind suite.CheckKind) document.Node {
			if kind == suite.JSONArrayContains && n.Has("match") == (n.Has("value") || n.Has("expected")) {
				e.Fail(n, document.Join(key, "value"),
					"or `match` is needed, and not both: the whole entry, or some keys of one")
			}
			return e.spell(n, key, kind)
		}, "type", "kind")
		label := check.Label()
		switch {
		case !ok:
			return
		case slices.ContainsFunc(c.Checks, func(other suite.Check) bool { return other.Label() == label }):
			e.Fail(n, key, "%s is there twice; remove one, or give each a `description` of its own",
				document.Quote(label))
		case check.Command != "" && check.Timeout == 0:
			check.Timeout = defaultTimeout
		}
		c.Checks = append(c.Checks, check)
	})
}
