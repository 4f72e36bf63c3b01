package suite

import (
	"regexp"
	"slices"
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
	maxPattern = 8 << 10
)

// Reader reads a file of a suite.
type Reader struct{ *document.Reader }

// CanName reports whether a text can name a file on every system.
func CanName(text string) bool {
	return document.NameForm().MatchString(text) && !strings.Contains(text, "..") && !strings.HasSuffix(text, ".")
}

// Kind is the kind of a check, which stands under one of these keys. It is "", with a
// problem, when there is none of the kinds that are in all.
func (r Reader) Kind(n document.Node, key string, all map[string]string, names ...string) (kind string) {
	for _, f := range n.Fields {
		if slices.Contains(names, f.Name) {
			if kind = f.Value.Text; !r.Is(f.Value, document.Join(key, f.Name), document.Text) {
				return ""
			}
		}
	}
	if _, known := all[kind]; !known {
		r.Fail(n, document.Join(key, names[0]), "must be one of %s", document.Names(all))
		return ""
	}
	return kind
}

// Literal reads a text of which the blanks count.
func (r Reader) Literal(n document.Node, key string) string {
	if n.Type == document.Text && n.Text != "" && strings.TrimSpace(n.Text) == "" && len(n.Text) <= MaxText {
		return n.Text
	}
	return r.Text(n, key, MaxText)
}

// Pattern reads a regular expression. It returns nil where the key is missing or wrong.
func (r Reader) Pattern(n document.Node, key string) *regexp.Regexp {
	text := r.Literal(n, key)
	if text == "" {
		return nil
	}
	if len(text) > maxPattern {
		r.Fail(n, key, "has more than %d bytes", maxPattern)
		return nil
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		r.Fail(n, key, "is no regular expression of Go's syntax: %s", plain.Short(err.Error(), document.MaxShown))
		return nil
	}
	return pattern
}
