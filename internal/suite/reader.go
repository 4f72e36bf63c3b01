package suite

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

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
func Name(n Node) string {
	name := n.Filled(MaxName)
	if name != "" && (!NameForm().MatchString(name) || strings.Contains(name, "..") ||
		strings.HasSuffix(name, ".")) {
		n.Fail("%s is no name: letters, digits, `.`, `_` and `-`, beginning with a letter or digit",
			Quote(name))
		return ""
	}
	return name
}

// Time reads a time limit in such units. It is 0 where it is wrong, and else never.
func Time(n Node, unit time.Duration) time.Duration {
	value, ok := n.Number()
	if n.Type != Number {
		return 0
	}
	given, most := value.Float64(), MaxTimeout/unit
	if !ok || given <= 0 || given > float64(most) {
		n.Fail("is %s; it must be more than 0 and at most %d", plain.Short(n.Text, MaxShown), most)
		return 0
	}
	return max(time.Duration(given*float64(unit)), 1)
}

// ReadCheck reads a check, whose kind stands under one of these names and is one of kinds; that
// has its keys, of which those after "|" may be left out. Keys that have other names get
// theirs by spell, nil for none. ok is false when there are problems.
func ReadCheck(n Node, kinds map[CheckKind]string,
	spell func(n Node, kind CheckKind) Node, names ...string,
) (c Check, ok bool) {
	if !n.Is(Object) {
		return c, false
	}
	before := len(n.problems)
	for _, f := range n.Fields {
		if slices.Contains(names, f.Name) {
			if c.Kind = CheckKind(f.Value.Text); !f.Value.Is(Text) {
				return c, false
			}
		}
	}
	wants, known := kinds[c.Kind]
	if !known {
		n.Below(names[0]).Fail("must be one of %s", Names(kinds))
		return c, false
	}
	if c.Operator = "eq"; spell != nil {
		n = spell(n, c.Kind)
	}
	must, may, _ := strings.Cut(wants, "|")
	all, keys, required := setters(&c), Keys{}, strings.Fields(must)
	for _, name := range append(strings.Fields(may), required...) {
		keys[name] = all[name]
	}
	keys[names[0]] = func(Node) {}
	n.Object(keys, true, required...)
	return c, len(n.problems) == before
}

func setters(c *Check) Keys {
	command, path := Filled(&c.Command, MaxCommand), Into(&c.File, inside(".", "the sandbox"))
	if c.Kind.Reads() {
		path = func(n Node) {
			c.PathText = strings.TrimSpace(n.Text)
			if text := n.Filled(MaxPath); text != "" {
				var err error
				if c.Path, err = ParseJSONPath(text); err != nil {
					n.Fail("%s", err)
				}
			}
		}
	}
	return Keys{
		"description": func(n Node) {
			c.Description = strings.TrimSpace(n.Filled(MaxExpectation))
		},
		"file":  Into(&c.File, inside(OutputsDir, "outputs/")),
		"path":  path,
		"match": func(n Node) { c.Value, c.Partial = Plain(n), true },
		"value": func(n Node) {
			if c.Value = Plain(n); c.Kind == JSONFieldCount {
				var err error
				if c.Count, err = strconv.Atoi(n.Text); n.Type != Number || err != nil || c.Count < 0 {
					n.Fail("must be a whole number, 0 or more")
				}
			}
		},
		"text":      Into(&c.Text, literal),
		"substring": Filled(&c.Text, MaxText),
		"pattern":   Into(&c.Pattern, pattern),
		"operator": func(n Node) {
			c.Operator = n.Filled(MaxName)
			if c.Operator != "" && countOperators[c.Operator] == nil {
				n.Fail("%s is not one of %s", Quote(c.Operator), Names(countOperators))
			}
		},
		"command":        command,
		"cmd":            command,
		"expectExitZero": func(n Node) { c.Fails = !n.Bool() },
		"timeout":        func(n Node) { c.Timeout = Time(n, time.Second) },
	}
}

// inside reads a path in a directory of the sandbox, which may be written in front of it.
func inside(dir, name string) func(n Node) string {
	return func(n Node) string {
		text := n.Filled(MaxPath)
		clean, ok := Inside(".", text)
		if clean = strings.TrimPrefix(clean, dir+"/"); text != "" && (!ok || clean == "." || clean == dir) {
			n.Fail("%s is no path below %s; give one relative to it, with slashes", Quote(text), name)
		}
		return clean
	}
}

// literal reads a text of which the blanks count.
func literal(n Node) string {
	if n.Type == Text && n.Text != "" && strings.TrimSpace(n.Text) == "" && len(n.Text) <= MaxText {
		return n.Text
	}
	return n.Filled(MaxText)
}

// pattern reads a regular expression. It returns nil where the key is missing or wrong.
func pattern(n Node) *regexp.Regexp {
	text := literal(n)
	if len(text) > maxPattern {
		n.Fail("has more than %d bytes", maxPattern)
		return nil
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		n.Fail("is no regular expression of Go's syntax: %s", plain.Short(err.Error(), MaxShown))
	}
	return pattern
}
