package decision

import (
	"strconv"

	"github.com/org/autoloop/internal/plain"
)

// ChangeKind says how a path of the candidate differs from the incumbent's.
type ChangeKind string

// The kinds of change. Type is a file that became a link or the reverse.
const (
	Added    ChangeKind = "added"
	Modified ChangeKind = "modified"
	Deleted  ChangeKind = "deleted"
	Mode     ChangeKind = "mode changed"
	Type     ChangeKind = "type changed"
)

// Change is one path in which the candidate differs from the incumbent.
type Change struct {
	Path string // bytes as git has them; need not be UTF-8
	Kind ChangeKind
	// OldMode and NewMode are git's six digits (100644, 100755, 120000), empty where there is no file.
	OldMode, NewMode string
	// NewBlob is the object id of the new content, empty for a deletion or a refused path.
	NewBlob string
	// Size is the new content's in bytes, as it lies on disk.
	Size int64
	// Refused says why no candidate may contain this path, whatever the rules;
	// empty for an ordinary change.
	Refused string
}

// maxQuoted bounds a path in a reason, in bytes before quoting.
const maxQuoted = 160

// quotePath renders a path of unknown bytes as one bounded line.
func quotePath(path string) string {
	if len(path) <= maxQuoted {
		return strconv.Quote(path)
	}
	head, tail := path[:maxQuoted/2], path[len(path)-maxQuoted/2:]
	return strconv.Quote(head) + "…" + strconv.Quote(tail)
}

// oneLine bounds a reason and leaves no control characters in it.
func oneLine(text string) string { return plain.Short(text, 2*maxQuoted) }
