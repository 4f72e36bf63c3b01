package decision

import (
	"fmt"
	"strings"
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
	// Scripts are the tracked files that the evaluation script runs.
	Scripts []string
}

// Violation is one path that a candidate may not touch as it did.
type Violation struct {
	Path   string
	Reason string // without the path
}

// Guarded is the guard's verdict. A candidate goes on to be measured only when OK is true.
type Guarded struct {
	OK         bool
	NoChange   bool        // the candidate is the incumbent
	Violations []Violation // in the order of the changes
}

// Guard holds every change against the rules. One violation rejects the whole
// candidate, and so does the absence of any change. A rename is a deletion and
// an addition, each judged by itself.
func Guard(changes []Change, rules Rules) Guarded {
	if len(changes) == 0 {
		return Guarded{NoChange: true}
	}
	var found []Violation
	for _, c := range changes {
		if reason := rules.forbid(c); reason != "" {
			found = append(found, Violation{Path: c.Path, Reason: reason})
		}
	}
	return Guarded{OK: len(found) == 0, Violations: found}
}

// Allow reports whether a candidate may add, change or delete a regular file.
func (r Rules) Allow(path string) bool { return r.forbid(Change{Path: path}) == "" }

// maxListed bounds the reasons that a verdict spells out.
const maxListed = 20

// Reasons returns one line for each violation, with the path quoted and both
// bounded; beyond twenty it says how many more there are. It is empty when OK.
func (g Guarded) Reasons() []string {
	if g.NoChange {
		return []string{"no change proposed"}
	}
	var lines []string
	for i, v := range g.Violations {
		if i == maxListed {
			return append(lines, fmt.Sprintf("and %d more", len(g.Violations)-maxListed))
		}
		lines = append(lines, quotePath(v.Path)+": "+v.Reason)
	}
	return lines
}

// forbid says why a change is not allowed, or "".
func (r Rules) forbid(c Change) string {
	switch {
	case c.Refused != "":
		return oneLine(c.Refused)
	case !cleanPath(c.Path):
		return "is no path inside the repository"
	case hasDotGit(c.Path):
		return "belongs to git"
	case matches(r.Protected, c.Path):
		return "is protected by the program" + done(c.Kind)
	case !matches(r.Literal, c.Path) && r.standing(c.Path) != "":
		return r.standing(c.Path) + done(c.Kind)
	case !matches(r.Target, c.Path):
		return "is outside the target" + done(c.Kind)
	}
	return ""
}

// standing names the protection that every program has without asking. Letters
// compare without case, because the user's file system may.
func (r Rules) standing(path string) string {
	first, _, _ := strings.Cut(path, "/")
	switch {
	case strings.EqualFold(first, ".autoloop"):
		return "belongs to Autoloop"
	case strings.EqualFold(first, ".github"):
		return "configures the repository's automation"
	case r.ProgramFile != "" && strings.EqualFold(path, r.ProgramFile):
		return "is the program itself"
	}
	for _, script := range r.Scripts {
		if strings.EqualFold(path, script) {
			return "is run by the evaluation"
		}
	}
	return ""
}

func matches(match func(string) bool, path string) bool {
	return match != nil && match(path)
}

func done(k Kind) string {
	if k == "" {
		return ""
	}
	return " (" + string(k) + ")"
}
