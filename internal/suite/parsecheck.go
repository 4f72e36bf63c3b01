package suite

import (
	"regexp"
	"strings"
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
func (t *taskReader) check(n node, key string) {
	if !t.is(n, key, objectKind) {
		return
	}
	check := Check{ExpectExitZero: true}
	for _, f := range n.fields {
		if f.name == "kind" && t.is(f.value, join(key, "kind"), textKind) {
			check.Kind = CheckKind(f.value.text)
		}
	}
	all := checkKeys()
	keys, known := all[check.Kind]
	if !known {
		kinds := map[string]bool{}
		for kind := range all {
			kinds[string(kind)] = true
		}
		t.fail(n, join(key, "kind"), "must be one of %s", names(kinds))
		return
	}
	setters := map[string]func(node, string){
		"kind":           func(node, string) {},
		"cmd":            func(n node, key string) { check.Command = t.text(n, key, maxCommand) },
		"expectExitZero": func(n node, key string) { check.ExpectExitZero = t.truth(n, key) },
		"path":           func(n node, key string) { check.Path = t.path(n, key) },
		"substring":      func(n node, key string) { check.Substring = t.text(n, key, maxText) },
		"pattern":        func(n node, key string) { check.Pattern = t.pattern(n, key) },
	}
	required, optional, _ := strings.Cut(keys, "|")
	take := map[string]func(node, string){"kind": setters["kind"]}
	for _, name := range strings.Fields(required + optional) {
		take[name] = setters[name]
	}
	t.object(n, key, take, true, strings.Fields(required)...)
	t.task.Checks = append(t.task.Checks, check)
}

// path reads the path of a file in the sandbox.
func (t *taskReader) path(n node, key string) string {
	text := t.text(n, key, maxPath)
	if text == "" {
		return ""
	}
	clean, ok := inside(".", text)
	if !ok || clean == "." {
		t.fail(n, key, "%s leads out of the sandbox; give a path relative to it, with slashes", quote(text))
		return ""
	}
	return clean
}

func (t *taskReader) pattern(n node, key string) *regexp.Regexp {
	text := t.text(n, key, maxPattern)
	if text == "" {
		return nil
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		t.fail(n, key, "is no regular expression of Go's syntax: %s", visible(err.Error(), maxShown))
		return nil
	}
	return pattern
}
