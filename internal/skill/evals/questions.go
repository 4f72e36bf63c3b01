package evals

import "fmt"

// AnswersFile is where an executor puts the answer to a question, below outputs/.
const AnswersFile = "answer.txt"

// Questions makes a case of each question: it passes when outputs/answer.txt is
// the answer, whatever its case and the blanks around it.
func Questions(skill string, answers []Answer) EvalSuite {
	suite := EvalSuite{SkillName: skill}
	for i, pair := range answers {
		suite.Cases = append(suite.Cases, Case{
			ID:     fmt.Sprintf("answer-%d", i+1),
			Prompt: fmt.Sprintf("%s\n\nWrite the answer, and nothing else, into %s/%s.", pair.Question, OutputsDir, AnswersFile),
			Checks: []Check{{Kind: exactAnswer, Description: "the answer is exact", File: AnswersFile, Text: pair.Answer}},
		})
	}
	return suite
}
