package iterate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/gate"
	"github.com/org/autoloop/internal/ledger"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/prompt"
	"github.com/org/autoloop/internal/score"
	"github.com/org/autoloop/internal/state"
)

// caseNumber begins the names of the numbers that are pass rates of single
// cases.
const caseNumber = "case."

// goal is what the program wants; of a skill, also how to go about it.
func goal(p *program.Program) string {
	if p.Evaluation != program.Skill {
		return p.Goal
	}
	return prompt.SkillGoal(p.Goal, p.Skill)
}

// lostCases lists the cases that passed whole before and do not any more. A case
// that was not measured now is lost too.
func lostCases(before, now map[string]score.Value) []string {
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

// loseNoCase says of an improvement which cases it lost, and turns it down where
// the program forbids that.
func (m *measurement) loseNoCase() {
	taken := m.taken[gate.Candidate]
	if m.a.outcome != ledger.Accepted || taken == nil {
		return
	}
	before := m.books.sum.Numbers
	if beside := m.taken[gate.Incumbent]; beside != nil && beside.runs > 0 {
		before = beside.last.Numbers
	}
	lost := lostCases(before, taken.last.Numbers)
	if len(lost) == 0 {
		return
	}
	const most = 400
	text := "regressed-cases: " + state.Inline(strings.Join(lost, ", "), most)
	if !m.Program.NoCaseRegression {
		m.a.reasons = append(m.a.reasons, text)
		return
	}
	m.a.decision.Verdict, m.a.decision.Best, m.a.decision.TargetMet = gate.Regressed, m.books.sum.Best, false
	m.a.verdict = &m.a.decision.Verdict
	m.a.end(ledger.Rejected, append([]string{text + "; no-case-regression forbids to lose a case that passed"}, m.a.reasons...)...)
}
