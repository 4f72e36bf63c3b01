package program

import (
	"fmt"
	"regexp"
	"strings"
)

// MaxName is the length of the longest name.
const MaxName = 64

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// ValidName reports why name is no slug from which the branch autoloop/<name>
// can be made.
func ValidName(name string) error {
	suggestion := Slug(name)
	switch {
	case len(name) > MaxName:
		return fmt.Errorf("name %q… has %d characters, more than %d; rename it to %q", strings.ToValidUTF8(name[:20], ""), len(name), MaxName, suggestion)
	case validName(name):
		return nil
	case suggestion == "":
		return fmt.Errorf("name %q is no slug; use a-z, 0-9, dot, dash and underscore", name)
	default:
		return fmt.Errorf("name %q is no slug; rename it to %q", name, suggestion)
	}
}

func validName(name string) bool {
	return len(name) <= MaxName && nameForm.MatchString(name) && !strings.Contains(name, "..") &&
		!strings.HasSuffix(name, ".") && !strings.HasSuffix(name, ".lock")
}

// Slug turns a title into a name; "" when nothing of it can be used.
func Slug(title string) string {
	var out strings.Builder
	for _, c := range strings.ToLower(title) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' {
			out.WriteRune(c)
			continue
		}
		if text := out.String(); text != "" && !strings.HasSuffix(text, "-") {
			out.WriteByte('-')
		}
	}
	slug := out.String()
	for strings.Contains(slug, "..") {
		slug = strings.ReplaceAll(slug, "..", ".")
	}
	slug = slug[:min(len(slug), MaxName)]
	for {
		trimmed := strings.TrimSuffix(strings.Trim(slug, "-._"), ".lock")
		if trimmed == slug {
			return slug
		}
		slug = trimmed
	}
}
