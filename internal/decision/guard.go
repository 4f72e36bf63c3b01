package decision

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/org/autoloop/internal/plain"
)

// Rules say what a candidate may change. A path is relative to the root of the
// repository, with slashes.
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

// maxListed bounds the reasons that the guard spells out.
const maxListed = 20

// Guard holds every change against the rules, and says what is wrong with them; a candidate goes
// on to be measured when nothing is. One violation rejects the whole candidate, and so does
// the absence of any change. A rename is a deletion and an addition, each judged by itself.
// Beyond twenty violations it says how many more there are.
func Guard(changes []Change, rules Rules) (found []Reason) {
	if len(changes) == 0 {
		return []Reason{{Kind: NoChange}}
	}
	for _, c := range changes {
		if reason := rules.forbid(c); reason != nil {
			reason.Path = c.Path
			found = append(found, *reason)
		}
	}
	if more := len(found) - maxListed; more > 0 {
		found = append(found[:maxListed], Reason{Kind: MorePaths, Count: more})
	}
	return found
}

// Allow reports whether a candidate may add, change or delete a regular file.
func (r Rules) Allow(path string) bool { return r.forbid(Change{Path: path}) == nil }

// forbid says why a change is not allowed, nil when it is.
func (r Rules) forbid(c Change) *Reason {
	standing := r.standing(c.Path)
	switch {
	case c.Refused != "":
		return &Reason{Kind: Refused, Words: plain.Short(c.Refused, 2*maxQuoted)}
	case !cleanPath(c.Path):
		return &Reason{Kind: NotInside}
	case slices.ContainsFunc(strings.Split(c.Path, "/"), DotGit):
		return &Reason{Kind: OfGit}
	case r.Protected(c.Path):
		standing = Protected
	case standing != "" && !r.Literal(c.Path):
	case r.Target(c.Path):
		return nil
	default:
		standing = NotTarget
	}
	return &Reason{Kind: standing, Term: string(c.Kind)}
}

// standing names the protection that every program has without asking. Letters
// compare without case, because the user's file system may.
func (r Rules) standing(path string) Why {
	first, _, _ := strings.Cut(path, "/")
	same := func(other string) bool { return strings.EqualFold(path, other) }
	switch {
	case strings.EqualFold(first, ".autoloop"):
		return OfAutoloop
	case strings.EqualFold(first, ".github"):
		return OfAutomation
	case same(r.ProgramFile):
		return IsProgram
	case slices.ContainsFunc(r.Scripts, same):
		return OfEvaluation
	}
	return ""
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

func cleanPath(path string) bool {
	bad := func(part string) bool { return part == "" || part == "." || part == ".." }
	return !strings.Contains(path, "\x00") && !slices.ContainsFunc(strings.Split(path, "/"), bad)
}

// DotGit reports whether some file system takes a file of this name for `.git`:
// in any case, by the short name, streams and trailing dots of NTFS, or behind
// the characters that HFS+ ignores. Git refuses the same names.
func DotGit(name string) bool {
	for part := range strings.SplitSeq(name, `\`) { // as is_ntfs_dotgit in git's path.c
		part, _, _ = strings.Cut(part, ":")
		part = strings.TrimRight(part, ". ")
		if strings.EqualFold(part, ".git") || strings.EqualFold(part, "git~1") {
			return true
		}
	}
	return strings.EqualFold(withoutIgnorable(name), ".git")
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
