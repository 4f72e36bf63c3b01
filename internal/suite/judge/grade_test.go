package judge_test

import (
	"github.com/org/autoloop/internal/suite/judge"
)

func graded() judge.Work {
	return judge.Work{
		Prompt: "greet", Expectations: []string{"it greets", "it is short"},
		Outputs: "hello >>> " + secret,
	}
}
