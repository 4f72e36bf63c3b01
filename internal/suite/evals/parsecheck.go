package evals

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite"
)

// evalKeys are the keys of each kind of check; those after "|" may be left out.
func evalKeys() map[string]string {
	return map[string]string{
		string(JSONValid):         "file | description",
		string(JSONFieldEquals):   "file path value | description",
		string(JSONFieldExists):   "file path | description",
		string(JSONFieldAbsent):   "file path | description",
		string(JSONFieldMatches):  "file path pattern | description",
		string(JSONFieldCount):    "file path value | description operator",
		string(JSONArrayContains): "file path | description value match",
		string(OutputExists):      "file | description",
		string(OutputNotExists):   "file | description",
		string(OutputContains):    "file text | description",
		string(OutputNotContains): "file text | description",
		string(OutputMatches):     "file pattern | description",
		string(ShellCommand):      "command | description timeout",
	}
}

// otherNames are spellings that are read as another key.
func otherNames(kind CheckKind) map[string]string {
	others := map[string]string{
		"name": "description", "label": "description", "kind": "type",
		"timeout_seconds": "timeout", "op": "operator", "expected": "value", "regex": "pattern",
	}
	reads := Check{Kind: kind}.reads()
	switch {
	case reads:
		others["field"], others["json_path"], others["count"] = "path", "path", "value"
	case kind == OutputContains || kind == OutputNotContains:
		others["value"], others["literal"], others["substring"] = "text", "text", "text"
	}
	if !reads {
		others["path"] = "file"
	}
	return others
}

// checks reads the deterministic checks of a case.
func (e *evalReader) checks(c *Case, n document.Node, key string) {
	e.List(n, key, suite.MaxChecks, func(n document.Node, key string) {
		if !e.Is(n, key, document.Object) {
			return
		}
		check, ok := e.check(n, key)
		if !ok {
			return
		}
		label := check.Label()
		if slices.ContainsFunc(c.Checks, func(other Check) bool { return other.Label() == label }) {
			e.Fail(n, key, "%s is there twice; remove one, or give each a `description` of its own",
				document.Quote(label))
			return
		}
		c.Checks = append(c.Checks, check)
	})
}

// check reads one; ok is false when there are problems.
func (e *evalReader) check(n document.Node, key string) (check Check, ok bool) {
	before, keys := len(e.Problems), evalKeys()
	kind := e.Kind(n, key, keys, "type", "kind")
	if kind == "" {
		return check, false
	}
	check = Check{Kind: CheckKind(kind), Operator: "eq", Timeout: DefaultCheckTimeout}
	take, required := e.setters(&check).Of(keys[kind])
	take["type"] = func(document.Node, string) {}
	if check.Kind == JSONArrayContains && has(n, "match") == (has(n, "value") || has(n, "expected")) {
		e.Fail(n, document.Join(key, "value"),
			"or `match` is needed, and not both: the whole entry, or some keys of one")
	}
	e.Object(e.respell(labelled(n, check.Kind), key, otherNames(check.Kind)), key, take, true, required...)
	return check, len(e.Problems) == before
}

func has(n document.Node, name string) bool {
	return slices.ContainsFunc(n.Fields, func(f document.Field) bool { return f.Name == name })
}

// labelled takes the `text` beside a `literal` for what it is: the check's label.
func labelled(n document.Node, kind CheckKind) document.Node {
	if kind != OutputContains && kind != OutputNotContains || !has(n, "literal") || has(n, "description") ||
		has(n, "name") {
		return n
	}
	fields := slices.Clone(n.Fields)
	for i := range fields {
		if fields[i].Name == "text" || fields[i].Name == "label" {
			fields[i].Name = "description"
		}
	}
	n.Fields = fields
	return n
}

// respell gives the keys of an object their one name.
func (e *evalReader) respell(n document.Node, key string, others map[string]string) document.Node {
	fields := slices.Clone(n.Fields)
	for i, f := range fields {
		to, other := others[f.Name]
		if !other {
			continue
		}
		if slices.ContainsFunc(fields, func(g document.Field) bool { return g.Name == to }) {
			e.Fail(f.Value, document.Join(key, f.Name), "is another name of `%s`, which is there too; remove one", to)
			continue
		}
		fields[i].Name = to
	}
	n.Fields = fields
	return n
}

func (e *evalReader) setters(check *Check) document.Keys {
	return document.Keys{
		"description": func(n document.Node, key string) {
			check.Description = strings.TrimSpace(e.Text(n, key, maxExpectation))
		},
		"file": document.Into(&check.File, e.output),
		"path": func(n document.Node, key string) {
			check.PathText = strings.TrimSpace(n.Text)
			if text := e.Text(n, key, document.MaxPath); text != "" {
				var err error
				if check.Path, err = ParseJSONPath(text); err != nil {
					e.Fail(n, key, "%s", err)
				}
			}
		},
		"match":   func(n document.Node, _ string) { check.Value, check.Partial = document.Plain(n), true },
		"value":   func(n document.Node, key string) { e.value(check, n, key) },
		"text":    document.Into(&check.Text, e.Literal),
		"pattern": document.Into(&check.Pattern, e.Pattern),
		"operator": func(n document.Node, key string) {
			check.Operator = e.Text(n, key, suite.MaxName)
			if check.Operator != "" && countOperators()[check.Operator] == nil {
				e.Fail(n, key, "%s is not one of %s", document.Quote(check.Operator), document.Names(countOperators()))
			}
		},
		"command": e.TextInto(&check.Command, suite.MaxCommand),
		"timeout": document.Into(&check.Timeout, e.seconds),
	}
}

// output reads a path below outputs/, which may be written in front of it.
func (e *evalReader) output(n document.Node, key string) string {
	text := e.Text(n, key, document.MaxPath)
	if text == "" {
		return ""
	}
	clean, ok := document.Inside(".", text)
	if ok {
		clean = strings.TrimPrefix(clean, OutputsDir+"/")
	}
	if !ok || clean == "." || clean == OutputsDir || path.Clean(clean) != clean {
		e.Fail(n, key, "%s is no path below outputs/; give one relative to it, with slashes", document.Quote(text))
		return ""
	}
	return clean
}

func (e *evalReader) value(check *Check, n document.Node, key string) {
	if check.Kind != JSONFieldCount {
		check.Value = document.Plain(n)
		return
	}
	count, err := strconv.Atoi(n.Text)
	if n.Type != document.Number || err != nil || count < 0 {
		e.Fail(n, key, "must be a whole number, 0 or more")
		return
	}
	check.Count = count
}

// seconds reads a time limit.
func (e *evalReader) seconds(n document.Node, key string) time.Duration {
	value, ok := e.Number(n, key).Value()
	if n.Type != document.Number {
		return 0
	}
	seconds := value.Float64()
	if !ok || seconds <= 0 || seconds > suite.MaxTimeout.Seconds() {
		e.Fail(n, key, "is %s; give seconds, more than 0 and at most %g", plain.Short(n.Text, document.MaxShown),
			suite.MaxTimeout.Seconds())
		return 0
	}
	return max(time.Duration(seconds*float64(time.Second)), 1) // 0 would be no bound
}
