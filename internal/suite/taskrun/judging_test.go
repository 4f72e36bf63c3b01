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

// likes prefers one configuration.
func likes(word string) func(judge.Work) float64 {
	return func(c judge.Work) float64 {
		if strings.Contains(c.Diff, "+"+word) {
			return 0.9
		}
		return 0.5
	}
}

func judged() map[string]object {
	return map[string]object{
		"a": {
			"judgeRubric": object{"criteria": "which is it?"},
			"checks":      []object{{"kind": "fileExists", "path": "out.txt"}},
		},
		"b": {"checks": []object{{"kind": "fileExists", "path": "out.txt"}}},
	}
}

func TestJudgeDecides(t *testing.T) {
	t.Parallel()
	w := newWorld(t, judged())
	o := &opinion{score: likes("after")}
	found, err := w.compare(t.Context(), copyConfig,
		func(options *taskrun.Options) { options.Judge, options.Jobs = o, 1 })
	require.NoError(t, err)
	assert.Equal(t, decision.Improved, found.Verdict, found.Summary)
	assert.Equal(t, 5, found.Repeats, "a judge is a model")
	assert.Equal(t, "opinion", found.Judge)
	require.Len(t, o.cases, 10, "tasks with a rubric, on both sides")
	first := o.cases[0]
	assert.Equal(t, "which is it?", first.Criteria)
	assert.Equal(t, "copied", first.Words)
	assert.True(t, first.Checks[0].Passed)
	assert.Equal(t, "because", found.Candidate.Scores[0].Runs[0].Judge.Rationale)

	turns := func(cases []judge.Work) (order string) {
		for _, c := range cases {
			order += map[bool]string{true: "A", false: "B"}[strings.Contains(c.Diff, "+after")]
		}
		return order
	}
	assert.NotContains(t, []string{"AAAAABBBBB", "BBBBBAAAAA", "ABABABABAB", "BABABABABA"}, turns(o.cases),
		"the order tells nothing")

	_, err = w.compare(t.Context(), copyConfig, func(options *taskrun.Options) { options.Judge = o })
	require.NoError(t, err)
	require.Len(t, o.cases, 10, "judgements of this comparison are kept")
	w.write("after/AGENTS.md", "afterwards\n")
	_, err = w.compare(t.Context(), copyConfig, func(options *taskrun.Options) { options.Judge, options.Jobs = o, 1 })
	require.NoError(t, err)
	require.Len(t, o.cases, 20, "beside another candidate the baseline is judged again")
	assert.NotEqual(t, turns(o.cases[:10]), turns(o.cases[10:]), "the order is another in each comparison")
}

func TestJudgeOnOneSideDecidesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, judged())
	o := &opinion{}
	o.score = func(c judge.Work) float64 {
		if strings.Contains(c.Diff, "+before") {
			return -1
		}
		return 1
	}
	found, err := w.compare(t.Context(), copyConfig,
		func(options *taskrun.Options) { options.Judge, options.Jobs = o, 1 })
	require.NoError(t, err, "a judge never breaks a comparison")
	assert.NotEqual(t, decision.Improved, found.Verdict)
	assert.False(t, found.Promotable)
	assert.NotEmpty(t, found.Warnings)
}

func TestSilentJudgeIsLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, judged())
	o := &opinion{score: func(judge.Work) float64 { return -1 }}
	found, err := w.compare(t.Context(), copyConfig,
		func(options *taskrun.Options) { options.Judge, options.Jobs = o, 1 })
	require.NoError(t, err)
	assert.Equal(t, decision.Neutral, found.Verdict)
	assert.Len(t, o.cases, 6, "three of each side")
	assert.Contains(t, found.Warnings[0], "left out for the baseline and the candidate")
	assert.Empty(t, found.Judge)
}

func TestWithoutJudgeIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, judged())
	found, err := w.compare(t.Context(), copyConfig, func(options *taskrun.Options) { options.NoJudge = "no key" })
	require.NoError(t, err)
	assert.Equal(t, []string{"no key"}, found.Warnings)
}
