package program

import (
	"fmt"
	"path"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// MaxName is the length of the longest name.
const MaxName = 64

// ValidName reports why name is no slug from which the branch autoloop/<name>
// can be made, and gives the slug that would do.
func ValidName(name string) error {
	if len(name) <= MaxName && nameForm().MatchString(name) && !dots().MatchString(name) &&
		!strings.HasSuffix(name, ".") && !strings.HasSuffix(name, ".lock") {
		return nil
	}
	suggestion := Slug(name)
	cure := fmt.Sprintf("rename it to %q", suggestion)
	if suggestion == "" {
		cure = "use a-z, 0-9, dot, dash and underscore"
	}
	return fmt.Errorf("name %.60q is no slug ([a-z0-9][a-z0-9._-]{0,%d}, no `..`, no `.` or `.lock` at the end); %s",
		name, MaxName-1, cure)
}

var (
	nameForm = lazyregexp.New(`^[a-z0-9][a-z0-9._-]*$`)
	notName  = lazyregexp.New(`[^a-z0-9._]+`)
	dots     = lazyregexp.New(`\.\.+`)
)

// Slug turns a title into a name; "" when nothing of it can be used.
func Slug(title string) string {
	slug := dots().ReplaceAllString(notName().ReplaceAllString(strings.ToLower(title), "-"), ".")
	slug = strings.TrimLeft(slug, "-._")
	slug = slug[:min(len(slug), MaxName)]
	for before := ""; slug != before; {
		before, slug = slug, strings.TrimSuffix(strings.TrimRight(slug, "-._"), ".lock")
	}
	return slug
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
