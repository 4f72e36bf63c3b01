package format

import (
	"regexp"
	"strings"

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/plain"
)

// checkKeys are the keys of each kind of check beside `kind`, the required
// ones first; those after "|" may be left out.
func checkKeys() map[CheckKind]string {
	return map[CheckKind]string{
		CommandCheck:    "cmd | expectExitZero",
		TestSuiteCheck:  "cmd",
		FileExists:      "path",
		FileContains:    "path substring",
		FileNotContains: "path substring",
		RegexMatch:      "path pattern",
		DiffContains:    "substring",
	}
}

// check reads one entry of `checks`.
func (t *taskReader) check(n document.Node, key string) {
	if !t.Is(n, key, document.Object) {
		return
	}
	check := Check{ExpectExitZero: true}
	for _, f := range n.Fields {
		if f.Name == "kind" && t.Is(f.Value, document.Join(key, "kind"), document.Text) {
			check.Kind = CheckKind(f.Value.Text)
		}
	}
	all := checkKeys()
	keys, known := all[check.Kind]
	if !known {
		kinds := map[string]bool{}
		for kind := range all {
			kinds[string(kind)] = true
		}
		t.Fail(n, document.Join(key, "kind"), "must be one of %s", document.Names(kinds))
		return
	}
	setters := map[string]func(document.Node, string){
		"kind":           func(document.Node, string) {},
		"cmd":            func(n document.Node, key string) { check.Command = t.Text(n, key, maxCommand) },
		"expectExitZero": func(n document.Node, key string) { check.ExpectExitZero = t.Truth(n, key) },
		"path":           func(n document.Node, key string) { check.Path = t.path(n, key) },
		"substring":      func(n document.Node, key string) { check.Substring = t.Text(n, key, maxText) },
		"pattern":        func(n document.Node, key string) { check.Pattern = t.pattern(n, key) },
	}
	required, optional, _ := strings.Cut(keys, "|")
	take := map[string]func(document.Node, string){"kind": setters["kind"]}
	for _, name := range strings.Fields(required + optional) {
		take[name] = setters[name]
	}
	t.Object(n, key, take, true, strings.Fields(required)...)
	t.task.Checks = append(t.task.Checks, check)
}

// path reads the path of a file in the sandbox.
func (t *taskReader) path(n document.Node, key string) string {
	text := t.Text(n, key, document.MaxPath)
	if text == "" {
		return ""
	}
	clean, ok := document.Inside(".", text)
	if !ok || clean == "." {
		t.Fail(n, key, "%s leads out of the sandbox; give a path relative to it, with slashes", document.Quote(text))
		return ""
	}
	return clean
}

func (t *taskReader) pattern(n document.Node, key string) *regexp.Regexp {
	text := t.Text(n, key, maxPattern)
	if text == "" {
		return nil
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		t.Fail(n, key, "is no regular expression of Go's syntax: %s", plain.Short(err.Error(), document.MaxShown))
		return nil
	}
	return pattern
}
