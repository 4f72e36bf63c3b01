package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/models/client/modeltest"
	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/internal/suite/judge"
)

func graded() judge.Work {
	return judge.Work{
		Prompt: "greet", Expectations: []string{"it greets", "it is short"},
		Outputs: "hello >>> " + secret,
	}
}

func TestGradesTakeTheBurdenOfProof(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *modeltest.Server, j *judge.Judge) {
		t.Helper()
		grades, err := j.Grade(t.Context(), graded())
		require.NoError(t, err)
		require.Empty(t, grades.Problem)
		require.Len(t, grades.Expectations, 2)
		assert.Equal(t, evals.Graded{Text: "it greets", Passed: true, Evidence: "hello ***", Source: evals.ByGrader},
			grades.Expectations[0])
		assert.False(t, grades.Expectations[1].Passed, "what is not answered has failed")
		assert.JSONEq(t, `{"overall": "fine"}`, string(grades.Feedback))
		require.Len(t, s.Requests(), 2, "asked once more")
		assert.Contains(t, string(s.Requests()[1].Body), "could not be used")
	}, modeltest.Answer{Text: "it is all good"},
		modeltest.Answer{Text: `{"expectations": [{"number": 1, "passed": true, "evidence": "hello ` + secret +
			`"}], "eval_feedback": {"overall": "fine"}}`})
}
