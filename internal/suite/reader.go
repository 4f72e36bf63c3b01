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

// Reader reads a file of a suite.
type Reader struct{ *document.Reader }

// Name reads a text that can name a file on every system.
func (r Reader) Name(n document.Node, key string) string {
	name := r.Text(n, key, MaxName)
	if name != "" && (!document.NameForm().MatchString(name) || strings.Contains(name, "..") ||
		strings.HasSuffix(name, ".")) {
		r.Fail(n, key, "%s is no name: letters, digits, `.`, `_` and `-`, beginning with a letter or digit",
			document.Quote(name))
		return ""
	}
	return name
}

// Time reads a time limit in such units. It is 0 where it is wrong, and else never.
func (r Reader) Time(n document.Node, key string, unit time.Duration) time.Duration {
	value, ok := r.Number(n, key)
	if n.Type != document.Number {
		return 0
	}
	given, most := value.Float64(), MaxTimeout/unit
	if !ok || given <= 0 || given > float64(most) {
		r.Fail(n, key, "is %s; it must be more than 0 and at most %d", plain.Short(n.Text, document.MaxShown), most)
		return 0
	}
	return max(time.Duration(given*float64(unit)), 1)
}

// Check reads a check, whose kind stands under one of these names and is one of kinds; that
// has its keys, of which those after "|" may be left out. Keys that have other names get
// theirs by spell, nil for none. ok is false when there are problems.
func (r Reader) Check(n document.Node, key string, kinds map[CheckKind]string,
	spell func(n document.Node, kind CheckKind) document.Node, names ...string,
) (c Check, ok bool) {
	if !r.Is(n, key, document.Object) {
		return c, false
	}
	before := len(r.Problems)
	for _, f := range n.Fields {
		if slices.Contains(names, f.Name) {
			if c.Kind = CheckKind(f.Value.Text); !r.Is(f.Value, document.Join(key, f.Name), document.Text) {
				return c, false
			}
		}
	}
	wants, known := kinds[c.Kind]
	if !known {
		r.Fail(n, document.Join(key, names[0]), "must be one of %s", document.Names(kinds))
		return c, false
	}
	if c.Operator = "eq"; spell != nil {
		n = spell(n, c.Kind)
	}
	keys, required := r.setters(&c).Of(wants)
	keys[names[0]] = func(document.Node, string) {}
	r.Object(n, key, keys, true, required...)
	return c, len(r.Problems) == before
}

func (r Reader) setters(c *Check) document.Keys {
	command, path := r.TextInto(&c.Command, MaxCommand), document.Into(&c.File, r.inside(".", "the sandbox"))
	if c.Kind.Reads() {
		path = func(n document.Node, key string) {
			c.PathText = strings.TrimSpace(n.Text)
			if text := r.Text(n, key, document.MaxPath); text != "" {
				var err error
				if c.Path, err = ParseJSONPath(text); err != nil {
					r.Fail(n, key, "%s", err)
				}
			}
		}
	}
	return document.Keys{
		"description": func(n document.Node, key string) {
			c.Description = strings.TrimSpace(r.Text(n, key, MaxExpectation))
		},
		"file":  document.Into(&c.File, r.inside(OutputsDir, "outputs/")),
		"path":  path,
		"match": func(n document.Node, _ string) { c.Value, c.Partial = document.Plain(n), true },
		"value": func(n document.Node, key string) {
			if c.Value = document.Plain(n); c.Kind == JSONFieldCount {
				var err error
				if c.Count, err = strconv.Atoi(n.Text); n.Type != document.Number || err != nil || c.Count < 0 {
					r.Fail(n, key, "must be a whole number, 0 or more")
				}
			}
		},
		"text":      document.Into(&c.Text, r.literal),
		"substring": r.TextInto(&c.Text, MaxText),
		"pattern":   document.Into(&c.Pattern, r.pattern),
		"operator": func(n document.Node, key string) {
			c.Operator = r.Text(n, key, MaxName)
			if c.Operator != "" && countOperators()[c.Operator] == nil {
				r.Fail(n, key, "%s is not one of %s", document.Quote(c.Operator), document.Names(countOperators()))
			}
		},
		"command":        command,
		"cmd":            command,
		"expectExitZero": func(n document.Node, key string) { c.Fails = !r.Truth(n, key) },
		"timeout":        func(n document.Node, key string) { c.Timeout = r.Time(n, key, time.Second) },
	}
}

// inside reads a path in a directory of the sandbox, which may be written in front of it.
func (r Reader) inside(dir, name string) func(n document.Node, key string) string {
	return func(n document.Node, key string) string {
		text := r.Text(n, key, document.MaxPath)
		clean, ok := document.Inside(".", text)
		if clean = strings.TrimPrefix(clean, dir+"/"); text != "" && (!ok || clean == "." || clean == dir) {
			r.Fail(n, key, "%s is no path below %s; give one relative to it, with slashes", document.Quote(text), name)
		}
		return clean
	}
}

// literal reads a text of which the blanks count.
func (r Reader) literal(n document.Node, key string) string {
	if n.Type == document.Text && n.Text != "" && strings.TrimSpace(n.Text) == "" && len(n.Text) <= MaxText {
		return n.Text
	}
	return r.Text(n, key, MaxText)
}

// pattern reads a regular expression. It returns nil where the key is missing or wrong.
func (r Reader) pattern(n document.Node, key string) *regexp.Regexp {
	text := r.literal(n, key)
	if len(text) > maxPattern {
		r.Fail(n, key, "has more than %d bytes", maxPattern)
		return nil
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		r.Fail(n, key, "is no regular expression of Go's syntax: %s", plain.Short(err.Error(), document.MaxShown))
	}
	return pattern
}
