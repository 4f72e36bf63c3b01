package loop

import (
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/prompt"
)

// goal is what the program wants; of a skill, also how to go about it.
func goal(p *program.Program) string {
	if p.Evaluation != program.Skill {
		return p.Goal
	}
	return prompt.SkillGoal(p.Goal, p.Skill)
}

// loseNoCase says of an improvement which cases it lost, and turns it down where
// the program forbids that.
func (m *measurement) loseNoCase() {
	taken := m.taken[decision.Candidate]
	if m.a.outcome != history.Accepted || taken == nil {
		return
	}
	before := decision.RatesOf(m.records.sum.Numbers)
	if beside := m.taken[decision.Incumbent]; beside != nil && beside.runs > 0 {
		before = decision.RatesOf(beside.numbers...)
	}
	lost := decision.LostCases(before, decision.RatesOf(taken.numbers...))
	if len(lost) == 0 {
		return
	}
	const most = 400
	text := "regressed-cases: " + state.Inline(strings.Join(lost, ", "), most)
	if !m.Program.NoCaseRegression {
		m.a.reasons = append(m.a.reasons, text)
		return
	}
	m.a.decision = m.a.decision.Forbidden(m.records.sum.Best)
	m.a.verdict = &m.a.decision.Verdict
	m.a.end(history.Rejected, append([]string{text + "; no-case-regression forbids to lose a case that passed"}, m.a.reasons...)...)
}
