package gate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/score"
)

// caseNumber begins the names of the numbers that are pass rates of single
// cases.
const caseNumber = "case."

// LostCases lists the cases that passed whole before and do not any more. A case
// that was not measured now is lost too.
func LostCases(before, now map[string]score.Value) []string {
	var lost []string
	perfect := score.FromInt(1)
	for name, rate := range before {
		id, isCase := strings.CutPrefix(name, caseNumber)
		if !isCase || rate.Cmp(perfect) < 0 {
			continue
		}
		if after, there := now[name]; !there || after.Cmp(perfect) < 0 {
			lost = append(lost, id)
		}
	}
	slices.SortFunc(lost, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return lost
}

// Forbidden is the decision when the rule forbids it although the numbers are
// better: best, which may be nil, stays.
func (d Decision) Forbidden(best *score.Value) Decision {
	d.Verdict, d.Best, d.TargetMet = Regressed, best, false
	return d
}
