package decision

import (
	"slices"
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
