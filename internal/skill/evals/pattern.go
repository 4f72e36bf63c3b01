package evals

import (
	"fmt"
	"regexp/syntax"
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
