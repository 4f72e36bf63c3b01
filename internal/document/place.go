package document

import (
	"path"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// NameForm is what a name that becomes part of a path looks like.
var NameForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// Inside resolves a path with slashes against a directory of a tree; ok is
// false when it leads out of the tree or is no plain relative path.
func Inside(dir, text string) (clean string, ok bool) {
	if path.IsAbs(text) || strings.ContainsAny(text, "\\:\x00") {
		return "", false
	}
	clean = path.Join(dir, text)
	return clean, clean != ".." && !strings.HasPrefix(clean, "../")
}
