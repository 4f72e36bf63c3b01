package plain

import (
	"strconv"
	"strings"
)

// Path is a path as people see it: quoted when it has line breaks or anything else
// that a terminal or a commit message could take for something else.
func Path(path string) string {
	if Text(path) == path && !strings.ContainsAny(path, "\n\t") {
		return path
	}
	return strconv.Quote(path)
}
