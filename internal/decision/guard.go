package decision

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/org/autoloop/internal/plain"
)

// Rules say what a candidate may change. A path is relative to the root of the
// repository, with slashes. A nil function matches nothing.
type Rules struct {
	// Target matches the files that the program lets change.
	Target func(path string) bool
	// Protected matches the files that the program says must not change; it wins over Target.
	Protected func(path string) bool
	// Literal matches the files that the Target names without a wildcard. It lifts the
	// standing protection of everything but `.git`.
	Literal func(path string) bool
	// ProgramFile is the program's own file; empty for an issue program.
	ProgramFile string
	// Scripts are the tracked files that the evaluation script names.
	Scripts []string
}

// Guarded is the guard's verdict. A candidate goes on to be measured only when OK is true.
type Guarded struct {
	OK         bool
	NoChange   bool     // the candidate is the incumbent
	Violations []Reason // the paths that it may not touch as it did, in the order of the changes
}

// Guard holds every change against the rules. One violation rejects the whole
// candidate, and so does the absence of any change. A rename is a deletion and
// an addition, each judged by itself.
func Guard(changes []Change, rules Rules) Guarded {
	if len(changes) == 0 {
		return Guarded{NoChange: true}
	}
	var found []Reason
	for _, c := range changes {
		if reason := rules.forbid(c); reason != nil {
			reason.Path = c.Path
			found = append(found, *reason)
		}
	}
	return Guarded{OK: len(found) == 0, Violations: found}
}

// Allow reports whether a candidate may add, change or delete a regular file.
func (r Rules) Allow(path string) bool { return r.forbid(Change{Path: path}) == nil }

// maxListed bounds the reasons that a verdict spells out.
const maxListed = 20

// Reasons returns the violations; beyond twenty it says how many more there are. It is
// empty when OK.
func (g Guarded) Reasons() []Reason {
	if g.NoChange {
		return []Reason{{Kind: NoChange}}
	}
	if more := len(g.Violations) - maxListed; more > 0 {
		return append(slices.Clone(g.Violations[:maxListed]), Reason{Kind: MorePaths, Count: more})
	}
	return g.Violations
}

// forbid says why a change is not allowed, nil when it is.
func (r Rules) forbid(c Change) *Reason {
	switch {
	case c.Refused != "":
		return &Reason{Kind: Refused, Words: oneLine(c.Refused)}
	case !cleanPath(c.Path):
		return &Reason{Kind: NotInside}
	case hasDotGit(c.Path):
		return &Reason{Kind: OfGit}
	case matches(r.Protected, c.Path):
		return &Reason{Kind: Protected, Term: string(c.Kind)}
	case !matches(r.Literal, c.Path) && r.standing(c.Path) != "":
		return &Reason{Kind: r.standing(c.Path), Term: string(c.Kind)}
	case !matches(r.Target, c.Path):
		return &Reason{Kind: NotTarget, Term: string(c.Kind)}
	}
	return nil
}

// standing names the protection that every program has without asking. Letters
// compare without case, because the user's file system may.
func (r Rules) standing(path string) Why {
	first, _, _ := strings.Cut(path, "/")
	switch {
	case strings.EqualFold(first, ".autoloop"):
		return OfAutoloop
	case strings.EqualFold(first, ".github"):
		return OfAutomation
	case r.ProgramFile != "" && strings.EqualFold(path, r.ProgramFile):
		return IsProgram
	}
	for _, script := range r.Scripts {
		if strings.EqualFold(path, script) {
			return OfEvaluation
		}
	}
	return ""
}

func matches(match func(string) bool, path string) bool {
	return match != nil && match(path)
}

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

func cleanPath(path string) bool {
	if path == "" || strings.IndexByte(path, 0) >= 0 {
		return false
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

func hasDotGit(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if DotGit(part) {
			return true
		}
	}
	return false
}

// DotGit reports whether some file system takes a file of this name for `.git`:
// in any case, by the short name, streams and trailing dots of NTFS, or behind
// the characters that HFS+ ignores. Git refuses the same names.
func DotGit(name string) bool {
	for part := range strings.SplitSeq(name, `\`) {
		if ntfsDotGit(part) {
			return true
		}
	}
	return strings.EqualFold(withoutIgnorable(name), ".git")
}

// ntfsDotGit follows is_ntfs_dotgit in git's path.c.
func ntfsDotGit(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}

// withoutIgnorable drops what HFS+ ignores when it compares names. A byte that is no
// UTF-8 ends the name, as it does for next_hfs_char in git's utf8.c.
func withoutIgnorable(name string) string {
	var kept strings.Builder
	for i, r := range name {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(name[i:], string(utf8.RuneError)):
			return kept.String()
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		default:
			kept.WriteRune(r)
		}
	}
	return kept.String()
}
