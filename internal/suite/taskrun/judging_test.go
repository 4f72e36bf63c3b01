package taskrun_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/judge"
	"github.com/org/autoloop/internal/suite/taskrun"
)

// opinion is a judge that answers by a function, and remembers the cases.
type opinion struct {
	score func(c judge.Work) float64 // below 0 is no answer

	mu    sync.Mutex
	cases []judge.Work
}

func (*opinion) Name() string { return "opinion" }

func (o *opinion) Grade(_ context.Context, c judge.Work) (judge.Opinion, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cases = append(o.cases, c)
	score := o.score(c)
	if score < 0 {
		return judge.Opinion{Problem: "no answer"}, nil
	}
	return judge.Opinion{Judgement: &format.Judgement{
		Score: metric.NumberFromFloat(score), Rationale: "because",
		Model: "m",
	}}, nil
}

func TestJudgeDecides(t *testing.T) {
	t.Parallel()
	exists := []object{{"kind": "fileExists", "path": "out.txt"}}
	w := newFixture(t, map[string]object{
		"a": {"judgeRubric": object{"criteria": "which is it?"}, "checks": exists}, "b": {"checks": exists},
	})
	o := &opinion{score: func(c judge.Work) float64 {
		if strings.Contains(c.Diff, "+after") {
			return 0.9
		}
		return 0.5
	}}
	compare := func() taskrun.Report {
		found, err := w.compare(t.Context(), copyConfig, func(options *taskrun.Options) { options.Grader = o })
		require.NoError(t, err)
		return found
	}
	found := compare()
	assert.Equal(t, decision.Improved, found.Verdict, found.Summary)
	assert.Equal(t, 5, found.Repeats, "a judge is a model")
	assert.Equal(t, "opinion", found.Judge)
	require.Len(t, o.cases, 10, "tasks with a rubric, on both sides")
	assert.Equal(t, []string{"which is it?", "copied"}, []string{o.cases[0].Criteria, o.cases[0].Words})
	assert.True(t, o.cases[0].Checks[0].Passed)
	assert.Equal(t, "because", found.Candidate.Scores[0].Runs[0].Judge.Rationale)
	compare()
	require.Len(t, o.cases, 10, "judgements of this comparison are kept")
	w.write("after/AGENTS.md", "afterwards\n")
	compare()
	require.Len(t, o.cases, 20, "beside another candidate the baseline is judged again")
}
