package skill_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/internal/shard"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/evalrun"
	"github.com/org/autoloop/internal/skill/evals"
)

// figures are those of a suite of so many cases, of any result.
func figures(random *rand.Rand, prefix string, count int) []skill.FigureCase {
	var list []skill.FigureCase
	for i := range count {
		c := skill.FigureCase{ID: fmt.Sprint(prefix, i), Total: 1 + random.IntN(5), Failed: []string{}}
		c.Passed = random.IntN(c.Total + 1)
		score := evals.CaseScore{Passed: c.Passed, Total: c.Total}
		if random.IntN(6) == 0 {
			why := "it crashed"
			c.Problem, score.Problem = &why, why
		}
		c.PassRate = evals.RateValue(score.PassRate())
		list = append(list, c)
	}
	return list
}

func ids(list []skill.FigureCase) []string {
	var all []string
	for _, c := range list {
		all = append(all, c.ID)
	}
	return all
}

// TestMergedPartsAreTheWhole: however a suite is split, its parts come to the same, in
// whatever order they are given.
func TestMergedPartsAreTheWhole(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		count, of := 1+random.IntN(8), 1+random.IntN(4)
		cases, queries := figures(random, "c", count), figures(random, "trigger-", 3)
		orders := map[string][]string{"evals": ids(cases), "triggers": ids(queries)}
		var parts []shard.Part
		for index := 1; index <= of; index++ {
			mine := schedule.Shard{Index: index, Of: of}
			text, err := json.Marshal(skill.Evaluated{
				Name: "s", Cases: schedule.Items(cases, mine), Triggers: &skill.Figure{Cases: schedule.Items(queries, mine)},
				Feedback: map[string]string{fmt.Sprint("c", index-1): "say more"},
			})
			require.NoError(t, err)
			parts = append(parts, shard.Part{Kind: shard.Skill, Index: index, Of: of, Skill: text, Orders: orders})
		}
		random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		whole, err := skill.MergeEvaluated(parts)
		require.NoError(t, err)
		assert.Equal(t, cases, whole.Cases)
		assert.Equal(t, queries, whole.Triggers.Cases)
		assert.Nil(t, whole.Answers, "the skill has none")
		assert.Len(t, whole.Feedback, of)
		var rates []evals.CaseScore
		for _, c := range cases {
			score := evals.CaseScore{Passed: c.Passed, Total: c.Total}
			if c.Problem != nil {
				score.Problem = *c.Problem
			}
			rates = append(rates, score)
		}
		assert.Equal(t, evals.RateValue(evals.MeanPassRate(rates)), whole.Score)
	}
}

func TestPartsThatAreNoWhole(t *testing.T) {
	t.Parallel()
	const a, b = `{"id": "a", "passed": 1, "total": 2, "pass_rate": 1}`, `{"id": "b", "passed": 0, "total": 1}`
	of := func(cases ...string) string { return `{"name": "s", "cases": [` + strings.Join(cases, ",") + `]}` }
	for name, c := range map[string]struct {
		first, second, fails string
	}{
		"both":                   {of(a), of(b), ""},
		"one has all":            {of(b, a), of(), ""},
		"a case is in both":      {of(a), of(a, b), "case a of evals is in two parts"},
		"twice in one":           {of(a, a), of(b), "case a of evals is in two parts"},
		"a case is in none":      {of(a), of(), "case b of evals is in no part"},
		"one that is no suite's": {of(a), of(b, `{"id": "c", "passed": 1, "total": 1}`), "the parts have 3 cases of evals, and the suite has 2"},
		"more than all passed":   {of(`{"id": "a", "passed": 3, "total": 2}`), of(b), "case a of evals is in no part, or cannot be read there"},
		"fewer than none":        {of(`{"id": "a", "passed": -1, "total": 2}`), of(b), "case a of evals is in no part, or cannot be read there"},
		"nothing":                {"null", of(a, b), ""},
		"no JSON":                {"{", of(a, b), "the figures of part 1/2"},
		"another type":           {`{"cases": {"a": 1}}`, of(a, b), "the figures of part 1/2"},
	} {
		whole, err := skill.MergeEvaluated([]shard.Part{
			{Index: 1, Of: 2, Skill: json.RawMessage(c.first), Orders: map[string][]string{"evals": {"a", "b"}}}, {Index: 2, Of: 2, Skill: json.RawMessage(c.second)},
		})
		if c.fails != "" {
			require.ErrorContains(t, err, c.fails, name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, []string{"a", "b"}, ids(whole.Cases), name)
		assert.Equal(t, "0.25", whole.Score.String(), name)
		assert.Equal(t, "0.5", whole.Cases[0].PassRate.String(), "%s: a rate follows from what passed", name)
	}
	_, err := skill.MergeEvaluated([]shard.Part{{Index: 1, Of: 1, Skill: json.RawMessage(of())}})
	require.ErrorContains(t, err, "the parts have no case")
}

// TestThePartOfASkillSaysWhatWasMeasured: parts of different skills, or of different
// executors, do not go together.
func TestThePartOfASkillSaysWhatWasMeasured(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("x"), 0o600))
	digest := func(who ...any) string {
		out := filepath.Join(t.TempDir(), "new", "part")
		require.NoError(t, skill.WritePart(t.Context(), &evalrun.Skill{Dir: dir}, out, who, schedule.Shard{Index: 2, Of: 3}, skill.Evaluated{Name: "s"}, map[string][]string{"evals": {"a"}}))
		data, err := os.ReadFile(filepath.Join(out, "shard.json"))
		require.NoError(t, err)
		var part shard.Part
		require.NoError(t, json.Unmarshal(data, &part))
		assert.Equal(t, []any{shard.Skill, 2, 3, map[string][]string{"evals": {"a"}}}, []any{part.Kind, part.Index, part.Of, part.Orders})
		return part.Digest
	}
	one := digest("agent", "model")
	assert.Equal(t, one, digest("agent", "model"))
	assert.NotEqual(t, one, digest("agent", "another"))
	assert.NotEqual(t, one, digest("agentmodel"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("y"), 0o600))
	assert.NotEqual(t, one, digest("agent", "model"))
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "link")))
	err := skill.WritePart(t.Context(), &evalrun.Skill{Dir: dir}, t.TempDir(), nil, schedule.Shard{}, skill.Evaluated{}, nil)
	require.ErrorContains(t, err, "is a link that leaves the tree")
}

func TestEvaluatedInWords(t *testing.T) {
	t.Parallel()
	crashed, half := "it crashed", metric.MustValue("0.5")
	e := skill.Evaluated{
		Name: "s", Score: half,
		Cases: []skill.FigureCase{
			{ID: "1", Passed: 1, Total: 2, Failed: []string{"it is short: it is long"}}, {ID: "2", Total: 3, Problem: &crashed},
		},
		Triggers: &skill.Figure{Score: half, Cases: []skill.FigureCase{{ID: "trigger-1", Passed: 1, Total: 1}, {ID: "trigger-2", Total: 1, Failed: []string{"the skill is taken up: no"}, Problem: &crashed}}},
		Feedback: map[string]string{"2": `{"overall": "check more"}`, "none": `{"overall": "of no case"}`},
		Notes:    []string{"the questions were not run"},
	}
	assert.Equal(t, strings.Join([]string{
		"case 1: 1 of 2", "  failed: it is short: it is long", "case 2: 0 of 3", "  counts 0: it crashed",
		"triggers: 0.5 over 2", "  trigger-2 failed: the skill is taken up: no", "  trigger-2 counts 0: it crashed",
		"the grader on case 2: check more", "note: the questions were not run", "s: pass rate 0.5 over 2 cases", "",
	}, "\n"), e.String())
}
