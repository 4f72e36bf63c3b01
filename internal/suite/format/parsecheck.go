package format

import (
	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/suite"
)

// checkKeys are the keys of each kind of check; those after "|" may be left out.
func checkKeys() map[string]string {
	return map[string]string{
		string(CommandCheck):    "kind cmd | expectExitZero",
		string(TestSuiteCheck):  "kind cmd",
		string(FileExists):      "kind path",
		string(FileContains):    "kind path substring",
		string(FileNotContains): "kind path substring",
		string(RegexMatch):      "kind path pattern",
		string(DiffContains):    "kind substring",
	}
}

// check reads one entry of `checks`.
func (t *taskReader) check(n document.Node, key string) {
	if !t.Is(n, key, document.Object) {
		return
	}
	keys := checkKeys()
	kind := t.Kind(n, key, keys, "kind")
	if kind == "" {
		return
	}
	check := Check{Kind: CheckKind(kind), ExpectExitZero: true}
	take, required := document.Keys{
		"kind":           func(document.Node, string) {},
		"cmd":            t.TextInto(&check.Command, suite.MaxCommand),
		"expectExitZero": document.Into(&check.ExpectExitZero, t.Truth),
		"path":           document.Into(&check.Path, t.path),
		"substring":      t.TextInto(&check.Substring, suite.MaxText),
		"pattern":        document.Into(&check.Pattern, t.Pattern),
	}.Of(keys[kind])
	t.Object(n, key, take, true, required...)
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
