package evalrun

import (
	"fmt"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/suite/evals"
)

// TriggerSuite is the skill with its trigger queries as cases: the executor gets
// the bare query, and a case passes when it takes the skill up, or leaves it, as
// the suite says. It is nil for a skill without triggers.
func (s *Skill) TriggerSuite() *Skill {
	if len(s.Triggers) == 0 {
		return nil
	}
	with := *s
	with.Evals, with.queries = evals.EvalSuite{SkillName: s.Name}, map[string]evals.Trigger{}
	for i, trigger := range s.Triggers {
		id := fmt.Sprintf("trigger-%d", i+1)
		label := "the skill is taken up"
		if !trigger.ShouldTrigger {
			label = "the skill is left alone"
		}
		with.queries[id] = trigger
		with.Evals.Cases = append(with.Evals.Cases,
			evals.Case{ID: id, Prompt: trigger.Query, Checks: []evals.Check{{Description: label}}})
	}
	return &with
}

// AnswerSuite is the skill with its questions as cases. It is nil when the skill
// has no suite, and when they are its suite already.
func (s *Skill) AnswerSuite() *Skill {
	if len(s.Answers) == 0 || s.asked {
		return nil
	}
	with := *s
	with.Evals = evals.Questions(s.Name, s.Answers)
	return &with
}

// Chooses reports whether an agent decides by itself which skills it takes up.
// One that is shown every file of its directory does not, so that trigger
// queries say nothing of it.
func Chooses(agentName string) bool { return agentName != "models" }

// checkTrigger answers a trigger query by what the executor printed.
func (w *cased) checkTrigger(trigger evals.Trigger, printed []byte) (evals.CaseScore, error) {
	used := skillUsed(printed, agent.ProjectOf(w.Agent).Printed, w.skill.Name)
	evidence := "the transcript does not show that the skill was loaded"
	if used {
		evidence = "the transcript shows that the skill was loaded"
	}
	w.grading = w.grading.Merge(w.graded(w.c.Checks[0], used == trigger.ShouldTrigger, evidence))
	return w.c.Score(w.grading), w.write()
}
