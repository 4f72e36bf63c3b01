package prompt

import "fmt"

// SkillGoal is the goal of improving a skill, with how to go about it.
func SkillGoal(goal, dir string) string {
	return goal + fmt.Sprintf("\n\nThe skill is the directory `%s`; agents are given its SKILL.md and all beside it "+
		"but the eval suite, which you may not change. "+
		"Its number is the mean pass rate over the cases of the suite. Understand why a case fails and generalise: a "+
		"rule that holds for every "+
		"prompt of the kind, never one for the words of a case. Keep what passes, explain the reasons in the skill "+
		"rather than shouting orders, and remove what does not pull its weight.", dir)
}
