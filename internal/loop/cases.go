package loop

import (
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
