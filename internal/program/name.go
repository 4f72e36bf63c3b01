package program

import (
	"fmt"
	"path"
	"strings"
	"unicode"
)

// MaxName is the length of the longest name.
const MaxName = 64

// ValidName reports why name is no slug from which the branch autoloop/<name>
// can be made, and gives the slug that would do.
func ValidName(name string) error {
	if validName(name) {
		return nil
	}
	suggestion := Slug(name)
	cure := fmt.Sprintf("rename it to %q", suggestion)
	if suggestion == "" {
		cure = "use a-z, 0-9, dot, dash and underscore"
	}
	if len(name) > MaxName {
		return fmt.Errorf("name %q has %d characters, more than %d; %s", clip(name), len(name), MaxName, cure)
	}
	return fmt.Errorf("name %q is no slug ([a-z0-9][a-z0-9._-]*, no `..`, no `.` or `.lock` at the end); %s", name,
		cure)
}

func validName(name string) bool {
	if name == "" || len(name) > MaxName || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") ||
		strings.HasPrefix(name, "_") {
		return false
	}
	for i := range len(name) {
		if !slugByte(name[i]) {
			return false
		}
	}
	return !strings.Contains(name, "..") && !strings.HasSuffix(name, ".") && !strings.HasSuffix(name, ".lock")
}

func slugByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}

// Slug turns a title into a name; "" when nothing of it can be used.
func Slug(title string) string {
	var out []byte
	for _, c := range title {
		switch c = unicode.ToLower(c); {
		case c < unicode.MaxASCII && c != '-' && slugByte(byte(c)):
			out = append(out, byte(c))
		case len(out) > 0 && out[len(out)-1] != '-':
			out = append(out, '-')
		}
		if len(out) > 2*MaxName {
			break
		}
	}
	slug := string(out)
	for strings.Contains(slug, "..") {
		slug = strings.ReplaceAll(slug, "..", ".")
	}
	slug = strings.TrimLeft(slug, "-._")
	slug = slug[:min(len(slug), MaxName)]
	for {
		trimmed := strings.TrimSuffix(strings.TrimRight(slug, "-._"), ".lock")
		if trimmed == slug {
			return slug
		}
		slug = trimmed
	}
}

// nameOf is the name that a file's path gives: …/NAME/program.md, …/NAME.md,
// and `program` for a single program.md of a repository.
func nameOf(file string) string {
	base := path.Base(file)
	if base != "program.md" {
		return strings.TrimSuffix(base, ".md")
	}
	switch dir := path.Base(path.Dir(file)); dir {
	case ".autoloop", ".", "/":
		return "program"
	default:
		return dir
	}
}
