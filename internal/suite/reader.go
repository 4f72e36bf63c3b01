package suite

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/plain"
)

// What a suite of either format may hold.
const (
	MaxChecks  = 200
	MaxName    = 200
	MaxText    = 256 << 10
	MaxCommand = 64 << 10
	MaxTimeout = 24 * time.Hour
	// MaxExpectation bounds an expectation, and the description of a check.
	MaxExpectation = 8 << 10
	maxPattern     = 8 << 10
)

// Name reads a text that can name a file on every system.
func Name(n document.Node) string {
	name := n.Filled(MaxName)
	if name != "" && (!document.NameForm().MatchString(name) || strings.Contains(name, "..") ||
		strings.HasSuffix(name, ".")) {
		n.Fail("%s is no name: letters, digits, `.`, `_` and `-`, beginning with a letter or digit",
			document.Quote(name))
		return ""
	}
	return name
}

// Time reads a time limit in such units. It is 0 where it is wrong, and else never.
func Time(n document.Node, unit time.Duration) time.Duration {
	value, ok := n.Number()
	if n.Type != document.Number {
		return 0
	}
	given, most := value.Float64(), MaxTimeout/unit
	if !ok || given <= 0 || given > float64(most) {
		n.Fail("is %s; it must be more than 0 and at most %d", plain.Short(n.Text, document.MaxShown), most)
		return 0
	}
	return max(time.Duration(given*float64(unit)), 1)
}

// ReadCheck reads a check, whose kind stands under one of these names and is one of kinds; that
// has its keys, of which those after "|" may be left out. Keys that have other names get
// theirs by spell, nil for none. ok is false when there are problems.
func ReadCheck(n document.Node, kinds map[CheckKind]string,
	spell func(n document.Node, kind CheckKind) document.Node, names ...string,
) (c Check, ok bool) {
	if !n.Is(document.Object) {
		return c, false
	}
	before := len(n.Problems)
	for _, f := range n.Fields {
		if slices.Contains(names, f.Name) {
			if c.Kind = CheckKind(f.Value.Text); !f.Value.Is(document.Text) {
				return c, false
			}
		}
	}
	wants, known := kinds[c.Kind]
	if !known {
		n.Below(names[0]).Fail("must be one of %s", document.Names(kinds))
		return c, false
	}
	if c.Operator = "eq"; spell != nil {
		n = spell(n, c.Kind)
	}
	keys, required := setters(&c).Of(wants)
	keys[names[0]] = func(document.Node) {}
	n.Object(keys, true, required...)
	return c, len(n.Problems) == before
}

func setters(c *Check) document.Keys {
	command, path := document.Filled(&c.Command, MaxCommand), document.Into(&c.File, inside(".", "the sandbox"))
	if c.Kind.Reads() {
		path = func(n document.Node) {
			c.PathText = strings.TrimSpace(n.Text)
			if text := n.Filled(document.MaxPath); text != "" {
				var err error
				if c.Path, err = ParseJSONPath(text); err != nil {
					n.Fail("%s", err)
				}
			}
		}
	}
	return document.Keys{
		"description": func(n document.Node) {
			c.Description = strings.TrimSpace(n.Filled(MaxExpectation))
		},
		"file":  document.Into(&c.File, inside(OutputsDir, "outputs/")),
		"path":  path,
		"match": func(n document.Node) { c.Value, c.Partial = document.Plain(n), true },
		"value": func(n document.Node) {
			if c.Value = document.Plain(n); c.Kind == JSONFieldCount {
				var err error
				if c.Count, err = strconv.Atoi(n.Text); n.Type != document.Number || err != nil || c.Count < 0 {
					n.Fail("must be a whole number, 0 or more")
				}
			}
		},
		"text":      document.Into(&c.Text, literal),
		"substring": document.Filled(&c.Text, MaxText),
		"pattern":   document.Into(&c.Pattern, pattern),
		"operator": func(n document.Node) {
			c.Operator = n.Filled(MaxName)
			if c.Operator != "" && countOperators[c.Operator] == nil {
				n.Fail("%s is not one of %s", document.Quote(c.Operator), document.Names(countOperators))
			}
		},
		"command":        command,
		"cmd":            command,
		"expectExitZero": func(n document.Node) { c.Fails = !n.Bool() },
		"timeout":        func(n document.Node) { c.Timeout = Time(n, time.Second) },
	}
}

// inside reads a path in a directory of the sandbox, which may be written in front of it.
func inside(dir, name string) func(n document.Node) string {
	return func(n document.Node) string {
		text := n.Filled(document.MaxPath)
		clean, ok := document.Inside(".", text)
		if clean = strings.TrimPrefix(clean, dir+"/"); text != "" && (!ok || clean == "." || clean == dir) {
			n.Fail("%s is no path below %s; give one relative to it, with slashes", document.Quote(text), name)
		}
		return clean
	}
}

// literal reads a text of which the blanks count.
func literal(n document.Node) string {
	if n.Type == document.Text && n.Text != "" && strings.TrimSpace(n.Text) == "" && len(n.Text) <= MaxText {
		return n.Text
	}
	return n.Filled(MaxText)
}

// pattern reads a regular expression. It returns nil where the key is missing or wrong.
func pattern(n document.Node) *regexp.Regexp {
	text := literal(n)
	if len(text) > maxPattern {
		n.Fail("has more than %d bytes", maxPattern)
		return nil
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		n.Fail("is no regular expression of Go's syntax: %s", plain.Short(err.Error(), document.MaxShown))
	}
	return pattern
}
