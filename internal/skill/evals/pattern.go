package evals

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
)

// maxMatching bounds the work of one pattern, in instructions times bytes: matching
// takes at most that many steps, of 30 to 120 nanoseconds.
const maxMatching = 500_000_000

// costly says why a check's pattern is not held against a text of so many bytes,
// or "": a match cannot be interrupted, and what it costs grows with both.
func (c Check) costly(size int) string {
	parsed, err := syntax.Parse(c.Pattern.String(), syntax.Perl)
	if err != nil {
		return "" // it was compiled before
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil || size == 0 || len(program.Inst) <= maxMatching/size {
		return ""
	}
	return fmt.Sprintf("has %d bytes, too many for a pattern of %d steps; make the output or the pattern smaller", size, len(program.Inst))
}

// matchesAll reports whether a pattern is sure to match any text: it matches an
// empty one, and so the beginning of each when it asks for no end, or the end of
// each when it asks for no beginning.
func matchesAll(pattern *regexp.Regexp) bool {
	parsed, err := syntax.Parse(pattern.String(), syntax.Perl)
	if err != nil || !pattern.MatchString("") {
		return false
	}
	return !asksFor(parsed, syntax.OpEndText, syntax.OpEndLine, syntax.OpNoWordBoundary) ||
		!asksFor(parsed, syntax.OpBeginText, syntax.OpBeginLine, syntax.OpNoWordBoundary)
}

// asksFor reports whether one of these stands anywhere in a pattern.
func asksFor(pattern *syntax.Regexp, ops ...syntax.Op) bool {
	return slices.Contains(ops, pattern.Op) || slices.ContainsFunc(pattern.Sub, func(sub *syntax.Regexp) bool { return asksFor(sub, ops...) })
}
