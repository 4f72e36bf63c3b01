package suite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
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
	isFile func(string) bool
	found  []Case
	ids    map[string]bool
}

// ParseEvals reads an evals.json: an object with `evals`, or the bare list. The
// file's name is for messages; isFile says whether a clean path from the
// skill's directory is a file. The error has all problems, a line each.
func ParseEvals(file string, data []byte, isFile func(path string) bool) ([]Case, error) {
	root, ok := Read(file, data, maxEvalFile, Object, List)
	e := &evalReader{isFile: isFile, ids: map[string]bool{}}
	if ok && root.Type == List {
		e.cases(root)
	} else if ok {
		root.Object(Keys{"evals": e.cases}, false, "evals")
	}
	return e.found, root.Err()
}

func (e *evalReader) cases(n Node) {
	if n.Type == List && len(n.Items) == 0 {
		n.Fail("has no case; give at least one prompt with something to check")
	}
	n.List(maxCases, e.one)
}

// one reads one case.
func (e *evalReader) one(n Node) {
	if !n.Is(Object) {
		return
	}
	c := &Case{}
	graded := func(n Node) { expectations(c, n) }
	n.Object(Keys{
		"id":                   Into(&c.ID, e.id),
		"prompt":               Filled(&c.Prompt, MaxText),
		"expected_output":      Optional(&c.ExpectedOutput, MaxText),
		"files":                func(n Node) { e.files(c, n) },
		"expectations":         graded,
		"assertions":           graded,
		"deterministic_checks": func(n Node) { checks(c, n) },
	}, false, "id", "prompt")
	if !slices.ContainsFunc(n.Fields, func(f Field) bool { // readable or not
		return slices.Contains([]string{"expectations", "assertions", "deterministic_checks"}, f.Name) &&
			(f.Value.Type != List || len(f.Value.Items) > 0)
	}) {
		n.Fail("has nothing to check; give `expectations` or `deterministic_checks`")
	}
	e.found = append(e.found, *c)
}

// id reads a number or a text that can name a directory.
func (e *evalReader) id(n Node) string {
	if n.Type == Number {
		n.Type = Text
	}
	id := Name(n)
	if lower := strings.ToLower(id); e.ids[lower] {
		n.Fail("%s is there twice; every case needs its own", Quote(id))
	} else {
		e.ids[lower] = id != ""
	}
	return id
}

// expectations reads texts, or objects with a `text`.
func expectations(c *Case, n Node) {
	n.List(maxExpectations, func(n Node) {
		text := ""
		if n.Type == Object {
			take := Filled(&text, MaxExpectation)
			named := Keys{"text": take, "expectation": take, "assertion": take, "description": take}
			n.Object(named, false)
			for _, name := range []string{"criteria", "check"} { // what the description means, for the grader
				for _, f := range n.Fields {
					if f.Name == name && f.Value.Type != Null && text != "" {
						text += " (" + name + ": " + meaning(f.Value) + ")"
					}
				}
			}
			if !slices.ContainsFunc(n.Fields, func(f Field) bool { return named[f.Name] != nil }) {
				n.Fail("has no `text`")
			}
		} else {
			text = n.Filled(MaxExpectation)
		}
		if text = strings.TrimSpace(text); text == "" {
			return
		}
		if slices.Contains(c.Expectations, text) {
			n.Fail("%s is there twice; remove one", Quote(text))
			return
		}
		c.Expectations = append(c.Expectations, text)
	})
}

// meaning is a text, or another value as JSON: it is for the grader, who reads
// both.
func meaning(n Node) string {
	if n.Type == Text {
		return n.Filled(MaxExpectation)
	}
	text, err := json.Marshal(Plain(n))
	if err != nil || len(text) > MaxExpectation {
		n.Fail("is longer than %d bytes", MaxExpectation)
		return ""
	}
	return string(text)
}

// files reads the inputs of a case, as paths from the skill's directory or from
// its evals/.
func (e *evalReader) files(c *Case, n Node) {
	if n.Type == Null {
		return
	}
	n.List(maxStaged, func(n Node) {
		text := n.Filled(MaxPath)
		if text == "" {
			return
		}
		place, ok := Inside(".", text)
		if below, _ := Inside(EvalsDir, text); !e.isFile(place) && e.isFile(below) {
			place = below
		}
		staged := StagedFile{From: place, To: strings.TrimPrefix(place, EvalsDir+"/")}
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
		case slices.ContainsFunc([]string{EvalFile, TriggerFile, AnswerFile},
			func(own string) bool { return strings.EqualFold(place, own) }):
			why = "is what the case is graded by, which its executor must not see; give another file"
		case strings.HasPrefix(to, OutputsDir+"/"), strings.HasPrefix(to, "."):
			why = "would stand where results or settings belong; rename it"
		case at >= 0:
			why = "would stand where " + Quote(c.Files[at].To) + " does; remove or rename one"
		default:
			c.Files = append(c.Files, staged)
			return
		}
		n.Fail("%s %s", Quote(text), why)
	})
}

// defaultTimeout bounds a shell_command that does not say `timeout`.
const defaultTimeout = 30 * time.Second

// ParseTriggers reads a trigger-eval.json: a list of queries. The executor gets the bare query, and a
// case passes when it takes the skill up, or leaves it, as the file says.
func ParseTriggers(file string, data []byte) (cases []Case, err error) {
	root, ok := Read(file, data, maxEvalFile, List)
	if !ok {
		return nil, root.Err()
	}
	root.List(maxCases, func(n Node) {
		c := Case{ID: fmt.Sprint("trigger-", len(cases)+1), Trigger: new(bool)}
		n.Object(Keys{
			"query":          Filled(&c.Prompt, MaxText),
			"should_trigger": Into(c.Trigger, Node.Bool),
		}, false, "query", "should_trigger")
		done := map[bool]string{true: "taken up", false: "left alone"}[*c.Trigger]
		c.Checks = []Check{{Description: "the skill is " + done}}
		cases = append(cases, c)
	})
	if len(root.Items) == 0 {
		root.Fail("has no query")
	}
	return cases, root.Err()
}

// evalKeys are the keys of each kind of check; those after "|" may be left out.
var evalKeys = map[CheckKind]string{
	JSONValid:         "file | description",
	JSONFieldEquals:   "file path value | description",
	JSONFieldExists:   "file path | description",
	JSONFieldAbsent:   "file path | description",
	JSONFieldMatches:  "file path pattern | description",
	JSONFieldCount:    "file path value | description operator",
	JSONArrayContains: "file path | description value match",
	OutputExists:      "file | description",
	OutputNotExists:   "file | description",
	OutputContains:    "file text | description",
	OutputNotContains: "file text | description",
	OutputMatches:     "file pattern | description",
	ShellCommand:      "command | description timeout",
}

// spell gives the keys of a check their one name.
func spell(n Node, kind CheckKind) Node {
	others := map[string]string{
		"name": "description", "label": "description", "kind": "type",
		"timeout_seconds": "timeout", "op": "operator", "expected": "value", "regex": "pattern",
	}
	switch {
	case kind.Reads():
		others["field"], others["json_path"], others["count"] = "path", "path", "value"
	case kind == OutputContains || kind == OutputNotContains:
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
			f.Value.Fail("is `%s` under another name; remove one", before)
		}
		fields[i].Name, seen[name] = name, f.Name
	}
	n.Fields = fields
	return n
}

// checks reads the deterministic checks of a case.
func checks(c *Case, n Node) {
	n.List(MaxChecks, func(n Node) {
		check, ok := ReadCheck(n, evalKeys, func(n Node, kind CheckKind) Node {
			if kind == JSONArrayContains && n.Has("match") == (n.Has("value") || n.Has("expected")) {
				n.Below("value").Fail("or `match` is needed, and not both: the whole entry, or some keys of one")
			}
			return spell(n, kind)
		}, "type", "kind")
		label := check.Label()
		switch {
		case !ok:
			return
		case slices.ContainsFunc(c.Checks, func(other Check) bool { return other.Label() == label }):
			n.Fail("%s is there twice; remove one, or give each a `description` of its own",
				Quote(label))
		case check.Command != "" && check.Timeout == 0:
			check.Timeout = defaultTimeout
		}
		c.Checks = append(c.Checks, check)
	})
}

// The files of a skill's suites, from the skill's own directory.
const (
	EvalsDir    = "evals"
	EvalFile    = "evals/evals.json"
	TriggerFile = "evals/trigger-eval.json"
	AnswerFile  = "evals/evaluation.xml"
)

// Case is one prompt with all that its result is graded by: every case has something to check.
type Case struct {
	// ID is unique in the suite and can name a directory.
	ID string
	// Prompt is all that the executor is told.
	Prompt string
	// ExpectedOutput describes a good result to the grader; it may be "".
	ExpectedOutput string
	// Files are staged into the sandbox.
	Files []StagedFile
	// Expectations are for the grader, in words; no two are the same.
	Expectations []string
	// Checks need no model.
	Checks []Check
	// Trigger, of a trigger query alone, says whether the skill is to be taken up.
	Trigger *bool
}

// StagedFile is an input of a case.
type StagedFile struct {
	// From is the clean path from the skill's directory, To the one in the
	// sandbox: the same without `evals/` in front.
	From, To string
}

// Total is how much there is to pass: expectations and checks.
func (c Case) Total() int { return len(c.Expectations) + len(c.Checks) }
