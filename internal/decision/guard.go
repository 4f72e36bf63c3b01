package decision

import (
	"iter"
	"path"
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
		found = append(found[:maxListed], MorePaths.Counts(more))
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

// bare are the paths by which git takes a directory without a .git for a repository, in small
// letters, since file systems may ignore case.
type bare map[string]bool

// add notes what a path is of the directories that it lies in. Objects and refs may be
// directories, links or executable files; the other parts are never directories.
func (b bare) add(name string) {
	parts := strings.Split(strings.ToLower(name), "/")
	for i, part := range parts {
		switch last := i == len(parts)-1; {
		case part == "objects", part == "refs", last && part == "head", last && part == "commondir":
			b[strings.Join(parts[:i+1], "/")] = true
		}
	}
}

// repository reports whether git takes a directory for a repository: a HEAD, and either
// objects and refs or a file that says in which directory they are.
func (b bare) repository(dir string) bool {
	has := func(part string) bool { return b[path.Join(dir, part)] }
	return has("head") && (has("objects") && has("refs") || has("commondir"))
}

// RefuseBare refuses the changes that make a repository of a directory which was
// none among the paths before: who works in it would run what its configuration
// says.
func RefuseBare(before iter.Seq[string], changes []Change) {
	was, is, deleted := bare{}, bare{}, map[string]bool{}
	for _, c := range changes {
		if deleted[c.Path] = c.Kind == Deleted; !deleted[c.Path] {
			is.add(c.Path)
		}
	}
	for name := range before {
		if was.add(name); !deleted[name] {
			is.add(name)
		}
	}
	for i, c := range changes {
		own := bare{}
		own.add(c.Path)
		for part := range own {
			dir := path.Dir(part)
			if !deleted[c.Path] && c.Refused == "" && is.repository(dir) && !was.repository(dir) {
				changes[i].Refused = "is part of a repository inside the repository"
			}
		}
	}
}

// NewFilter is why a .gitattributes file is refused that SetsFilter.
const NewFilter = "chooses a filter, under which no file could be changed afterwards"

// SetsFilter reports whether the new text of a .gitattributes file chooses a filter
// that the old one does not, also by a macro. Macros are those of the two texts, and
// of the file at the top of the tree, whose text is top. Files under a filter cannot be
// changed, so that such a change would be the last one.
func SetsFilter(before, after, top string) bool {
	old := filtered(before, top+"\n"+before)
	return slices.ContainsFunc(filtered(after, top+"\n"+before+"\n"+after),
		func(line string) bool { return !slices.Contains(old, line) })
}

// filtered are the lines of a text that choose a filter for some files, by an attribute or by
// a macro of the texts around.
func filtered(text, around string) (lines []string) {
	chosen := map[string]bool{"filter": true}
	chooses := func(attribute string) bool {
		name, _, _ := strings.Cut(attribute, "=")
		return chosen[name]
	}
	for known := 0; known < len(chosen); {
		known = len(chosen)
		for line := range strings.Lines(around) {
			name, macro := strings.CutPrefix(strings.TrimSpace(line), "[attr]")
			if fields := strings.Fields(name); macro && len(fields) > 0 && slices.ContainsFunc(fields[1:], chooses) {
				chosen[fields[0]] = true
			}
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		fields := strings.Fields(line)
		if len(fields) > 0 && fields[0][0] != '#' && !strings.HasPrefix(line, "[attr]") &&
			slices.ContainsFunc(fields[1:], chooses) {
			lines = append(lines, line)
		}
	}
	return lines
}

// Links are the symbolic links of a tree by their clean paths, and what they
// say, both with slashes.
type Links map[string]string

// maxHops is how many links Linux follows in one path.
const maxHops = 40

// Wrong says what is wrong with where a link leads, or "". It follows the other
// links of the tree as a kernel would; where nothing is, nothing is assumed.
func (l Links) Wrong(name string) string {
	const leaves = "is a link that leaves the tree"
	var at []string
	hops, todo := 0, strings.Split(name, "/")
	for len(todo) > 0 {
		part := todo[0]
		todo = todo[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part != "..":
			at = append(slices.Clip(at), part)
		case len(at) == 0:
			return leaves
		default:
			at = at[:len(at)-1]
			continue
		}
		target, is := l[strings.Join(at, "/")]
		switch {
		case DotGit(part):
			return leaves + " into a git directory"
		case !is:
			continue
		case strings.HasPrefix(target, "/"):
			return leaves
		case hops == maxHops:
			return "is a link that leads round in circles"
		}
		hops++
		at, todo = at[:len(at)-1], append(strings.Split(target, "/"), todo...)
	}
	return ""
}

// RefuseLinks refuses changed links that lead nowhere good, and links that do so only
// because of the changes: what is a link or a directory on the way decides where `..`
// leads. It returns the changes with these.
func RefuseLinks(before, after Links, changes []Change) []Change {
	const symlink = "120000" // git's mode of one
	changed := map[string]int{}
	for i, c := range changes {
		changed[c.Path] = i
	}
	for name := range after {
		reason := after.Wrong(name)
		i, ours := changed[name]
		switch {
		case reason == "":
		case ours && changes[i].Refused == "":
			changes[i].Refused = reason
		case !ours && before.Wrong(name) == "":
			changes = append(changes, Change{
				Path: name, Kind: Modified, OldMode: symlink, NewMode: symlink,
				Refused: reason + " once the other changes are made",
			})
		}
	}
	return changes
}
