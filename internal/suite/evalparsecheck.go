package suite

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// evalKeys are the keys of each kind of check beside `type` and `description`,
// which must all be there but those after "|".
func evalKeys() map[EvalKind]string {
	return map[EvalKind]string{
		JSONValid:         "file",
		JSONFieldEquals:   "file path value",
		JSONFieldExists:   "file path",
		JSONFieldAbsent:   "file path",
		JSONFieldMatches:  "file path pattern",
		JSONFieldCount:    "file path value | operator",
		JSONArrayContains: "file path value",
		OutputExists:      "file",
		OutputNotExists:   "file",
		OutputContains:    "file text",
		OutputNotContains: "file text",
		OutputMatches:     "file pattern",
		ShellCommand:      "command | timeout",
	}
}

// otherNames are spellings that are read as another key.
func otherNames(kind EvalKind) map[string]string {
	others := map[string]string{"name": "description", "kind": "type", "timeout_seconds": "timeout", "op": "operator", "expected": "value", "regex": "pattern"}
	reads := EvalCheck{Kind: kind}.reads()
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
func (e *evalReader) checks(c *EvalCase, n node, key string) {
	e.list(n, key, maxChecks, func(n node, key string) {
		if !e.is(n, key, objectKind) {
			return
		}
		check, ok := e.check(n, key)
		if !ok {
			return
		}
		label := check.Label()
		if slices.ContainsFunc(c.Checks, func(other EvalCheck) bool { return other.Label() == label }) {
			e.fail(n, key, "%s is there twice; remove one, or give each a `description` of its own", quote(label))
			return
		}
		c.Checks = append(c.Checks, check)
	})
}

// check reads one; ok is false when there are problems.
func (e *evalReader) check(n node, key string) (check EvalCheck, ok bool) {
	before := len(e.problems)
	for _, f := range n.fields {
		if f.name == "type" || f.name == "kind" {
			if !e.is(f.value, join(key, f.name), textKind) {
				return check, false
			}
			check.Kind = EvalKind(f.value.text)
		}
	}
	all := evalKeys()
	text, known := all[check.Kind]
	if !known {
		e.fail(n, join(key, "type"), "must be one of %s", names(all))
		return check, false
	}
	check.Operator, check.Timeout = "eq", DefaultCheckTimeout
	setters := e.setters(&check)
	required, optional, _ := strings.Cut(text, "|")
	take := map[string]func(node, string){"type": setters["type"], "description": setters["description"]}
	for _, name := range strings.Fields(required + optional) {
		take[name] = setters[name]
	}
	e.object(e.respell(n, key, otherNames(check.Kind)), key, take, true, strings.Fields(required)...)
	return check, len(e.problems) == before
}

// respell gives the keys of an object their one name.
func (e *evalReader) respell(n node, key string, others map[string]string) node {
	fields := slices.Clone(n.fields)
	for i, f := range fields {
		to, other := others[f.name]
		if !other {
			continue
		}
		if slices.ContainsFunc(fields, func(g field) bool { return g.name == to }) {
			e.fail(f.value, join(key, f.name), "is another name of `%s`, which is there too; remove one", to)
			continue
		}
		fields[i].name = to
	}
	n.fields = fields
	return n
}

func (e *evalReader) setters(check *EvalCheck) map[string]func(node, string) {
	return map[string]func(node, string){
		"type":        func(node, string) {},
		"description": func(n node, key string) { check.Description = strings.TrimSpace(e.text(n, key, maxExpectation)) },
		"file":        func(n node, key string) { check.File = e.output(n, key) },
		"path":        func(n node, key string) { check.Path = e.jsonPath(n, key) },
		"value":       func(n node, key string) { e.value(check, n, key) },
		"text":        func(n node, key string) { check.Text = e.literal(n, key) },
		"pattern":     func(n node, key string) { check.Pattern = e.pattern(n, key) },
		"operator":    func(n node, key string) { check.Operator = e.operator(n, key) },
		"command":     func(n node, key string) { check.Command = e.text(n, key, maxCommand) },
		"timeout":     func(n node, key string) { check.Timeout = e.seconds(n, key) },
	}
}

// output reads a path below outputs/, which may be written in front of it.
func (e *evalReader) output(n node, key string) string {
	text := e.text(n, key, maxPath)
	if text == "" {
		return ""
	}
	clean, ok := inside(".", text)
	if ok {
		clean = strings.TrimPrefix(clean, OutputsDir+"/")
	}
	if !ok || clean == "." || clean == OutputsDir || path.Clean(clean) != clean {
		e.fail(n, key, "%s is no path below outputs/; give one relative to it, with slashes", quote(text))
		return ""
	}
	return clean
}

func (e *evalReader) jsonPath(n node, key string) JSONPath {
	text := e.text(n, key, maxPath)
	if text == "" {
		return nil
	}
	path, err := ParseJSONPath(text)
	if err != nil {
		e.fail(n, key, "%s", err)
	}
	return path
}

// literal reads a text of which the blanks count.
func (e *evalReader) literal(n node, key string) string {
	if n.kind == textKind && n.text != "" && strings.TrimSpace(n.text) == "" && len(n.text) <= maxText {
		return n.text
	}
	return e.text(n, key, maxText)
}

func (e *evalReader) value(check *EvalCheck, n node, key string) {
	if check.Kind != JSONFieldCount {
		check.Value = plainValue(n)
		return
	}
	count, err := strconv.Atoi(n.text)
	if n.kind != numberKind || err != nil || count < 0 {
		e.fail(n, key, "must be a whole number, 0 or more")
		return
	}
	check.Count = count
}

func (e *evalReader) operator(n node, key string) string {
	text := e.text(n, key, maxName)
	if text != "" && !isOperator(text) {
		e.fail(n, key, "%s is none of %s", quote(text), strings.ReplaceAll(countOperators, " ", ", "))
	}
	return text
}

func (e *evalReader) pattern(n node, key string) *regexp.Regexp {
	text := e.literal(n, key)
	if text == "" {
		return nil
	}
	if len(text) > maxPattern {
		e.fail(n, key, "has more than %d bytes", maxPattern)
		return nil
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		e.fail(n, key, "is no regular expression of Go's syntax: %s", visible(err.Error(), maxShown))
		return nil
	}
	return pattern
}

// seconds reads a time limit.
func (e *evalReader) seconds(n node, key string) time.Duration {
	value, ok := e.number(n, key).Value()
	if n.kind != numberKind {
		return 0
	}
	seconds := value.Float64()
	if !ok || seconds <= 0 || seconds > maxTimeout.Seconds() {
		e.fail(n, key, "is %s; give seconds, more than 0 and at most %g", visible(n.text, maxShown), maxTimeout.Seconds())
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}
