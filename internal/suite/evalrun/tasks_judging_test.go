package evalrun

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/judge"
	"github.com/org/autoloop/internal/suite/tasks"
)

// TestJudgeDecides where checks do not, and is asked about the tasks with a rubric.
func TestJudgeDecides(t *testing.T) {
	t.Parallel()
	w := newTaskFixture(t, map[string]string{
		"a": `"judgeRubric": {"criteria": "which is it?", "weight": 0.2}, ` + checks(copied), "b": checks(copied),
	})
	j := &answers{name: "opinion", text: "y"}
	works := &configured{name: commandAgent, ends: func(int) (agent.Reply, error) { return agent.Reply{}, nil }}
	found, err := w.compare(works, func(o *TaskOptions) { o.Grader, o.Runs = j, 0 })
	require.NoError(t, err)
	assert.Equal(t, decision.Improved, found.Verdict, found.Summary)
	assert.Equal(t, 5, found.Repeats, "a judge is a model")
	assert.Equal(t, "opinion", found.Judge)
	assert.Equal(t, "0.2", found.Baseline.Scores[0].JudgeWeight.String())
	require.Len(t, j.cases, 10)
	assert.Equal(t, "which is it?", j.cases[0].Criteria)
	assert.True(t, j.cases[0].Checks[0].Passed)
	assert.Equal(t, "Task a", found.Candidate.Scores[0].Runs[0].Judge.Rationale)
}

// toJudge is a comparison whose runs are made: of each task there are two on each side, and
// every second task has a rubric.
func toJudge(t *testing.T, count int, text string) (*comparison, *answers) {
	t.Helper()
	s, j := simulated(t, count, func(role, int, int) bool { return true }), &answers{name: "j", text: text}
	base := t.TempDir()
	s.Archive = &Archive{Dir: filepath.Join(base, "kept"), Stage: base}
	s.Grader, s.Session = j, "session"
	for i, p := range s.tasks {
		p.Title, p.keys = fmt.Sprint("Task ", i), [roles]string{fmt.Sprintf("%032d", i), fmt.Sprintf("%032d", 100+i)}
		if i%2 == 0 {
			p.Rubric = &suite.Rubric{Criteria: "is it good?"}
		}
		s.suite.Tasks = append(s.suite.Tasks, p.Task)
		for side := range roles {
			for k := range 2 {
				s.records[unit{i, side, k}] = record{Digest: fmt.Sprint(i, side, k)}
			}
		}
	}
	return s, j
}

// TestJudgeIsAskedNoMore: after three cases of a side in a row without an answer,
// wherever they are; then none of its judgements of that side counts. It is asked about
// three runs of the candidate, four of the baseline, and the candidate's last one.
func TestJudgeIsAskedNoMore(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct {
		asked, given, problems int
		left                   string // the sides for which it is left out
	}{
		"y": {8, 8, 0, ""}, "--yy--yy": {8, 4, 4, ""}, "yyyyy---": {8, 5, 3, ""}, "yyyyyy--": {8, 6, 2, ""},
		"---y": {7, 4, 3, "the candidate"}, "yyy---y": {7, 4, 3, "the baseline"},
		"-": {6, 0, 6, "the baseline and the candidate"},
	} {
		s, j := toJudge(t, 4, text)
		var told []string
		s.Progress = func(line string) { told = append(told, line) }
		given, problems, err := s.judgeAll(t.Context(), 2)
		require.NoError(t, err, "a judge never ends a comparison")
		assert.Len(t, j.cases, c.asked, text)
		assert.Len(t, given, c.given, text)
		if c.left != "" {
			require.NotEmpty(t, problems)
			assert.Contains(t, problems[0], "left out for "+c.left)
			problems = problems[1:]
		}
		require.Len(t, problems, c.problems, text)
		for _, problem := range problems {
			assert.Regexp(t, `^task t[02], run [12] of the (baseline|candidate): no answer$`, problem)
		}
		require.Len(t, told, c.asked)
		for i, line := range told {
			assert.Contains(t, line, fmt.Sprintf(" runs, %d/8 judged, %.4f USD, %d tokens", i+1, 0.01*float64(i+1), 100*(i+1)))
		}
		assert.Equal(t, int64(100*c.asked), *s.spent.Used().Tokens)
		for u := range given {
			assert.Zero(t, u.task%2, "without a rubric nothing is judged")
		}
	}
	s, _ := toJudge(t, 1, "y")
	silent := &judging{comparison: s, given: map[unit]*tasks.Judgement{}, silence: [roles]int{maxSilence, 0}}
	silent.note(unit{}, judge.Opinion{Judgement: &tasks.Judgement{}})
	assert.True(t, silent.left(unit{}), "an answer that was on its way changes nothing")
	for name, c := range map[string]struct {
		rubric bool
		why    string
		says   []string
	}{
		"nothing to judge": {false, "no key", nil},
		"nobody to judge":  {true, "no key", []string{"no key"}},
		"nobody is wanted": {true, "", []string{}},
	} {
		s, _ := toJudge(t, 1, "y")
		if s.Grader, s.NoGrader = nil, c.why; !c.rubric {
			s.suite.Tasks[0].Rubric = nil
		}
		_, problems, err := s.judgeAll(t.Context(), 2)
		require.NoError(t, err, name)
		assert.Equal(t, c.says, problems, name)
	}
}

// TestJudgingGoesOnWhereItWas: what was judged is neither asked nor paid for again, at a
// budget, an interruption and the end.
func TestJudgingGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text   string
		budget int64 // of tokens
		says   string
		asked  int // until it ended
		then   int // when it goes on
	}{
		"the end":               {"y", 0, "", 8, 0},
		"an interruption":       {"yyy!", 0, "stopped", 4, 5},
		"a budget of tokens":    {"y", 250, "250 tokens is used up; 16 of", 3, 5},
		"a case without answer": {"yy-y", 0, "", 8, 1},
	} {
		ctx, stop := context.WithCancelCause(t.Context())
		s, j := toJudge(t, 4, c.text)
		j.stop, s.spent.Budget = stop, Budget{Limit: metric.Limit{Tokens: c.budget}}
		_, _, err := s.judgeAll(ctx, 2)
		assert.Contains(t, fmt.Sprint(err), c.says, name)
		assert.Equal(t, c.says == "", err == nil, name)
		assert.Equal(t, c.says == "stopped", errors.Is(err, errStopped), name)
		assert.Len(t, j.cases, c.asked, name)
		assert.Equal(t, int64(100*c.asked), *s.spent.Used().Tokens, "also what was not kept is paid")

		for fresh, then := range map[bool]int{false: c.then, true: 8} {
			next, again := toJudge(t, 4, "y")
			next.Archive, next.Fresh = &Archive{Dir: t.TempDir(), Stage: t.TempDir()}, fresh
			require.NoError(t, os.CopyFS(next.Archive.Dir, os.DirFS(s.Archive.Dir)))
			given, problems, err := next.judgeAll(t.Context(), 2)
			require.NoError(t, err)
			assert.Empty(t, problems)
			require.Len(t, given, 8)
			assert.Len(t, again.cases, then, name)
			assert.Equal(t, int64(100*then), *cmp.Or(next.spent.Used().Tokens, new(int64)))
			assert.Zero(t, next.spent.Used().UnknownTokens, "what is kept costs nothing, and that is known")
			for u, found := range given {
				assert.Equal(t, "Task "+fmt.Sprint(u.task), found.Rationale, "each is that of its own run")
			}
		}
	}
}

// TestJudgementsAreOfTheirRun: none is taken for another run, another judge, or other criteria,
// and none that cannot be read.
func TestJudgementsAreOfTheirRun(t *testing.T) {
	t.Parallel()
	first := func(change func(p *prepared)) func(*comparison, *answers) {
		return func(s *comparison, _ *answers) { change(s.tasks[0]) }
	}
	left := func(side role, repeat int, r record) func(*comparison, *answers) {
		return func(s *comparison, _ *answers) { s.records[unit{0, side, repeat}] = r }
	}
	long := `{"score0to1": 0.5, "rationale": "` + strings.Repeat("x", 4<<20) + `"}`
	for name, c := range map[string]struct {
		change func(*comparison, *answers)
		kept   string // what the judgements are by then, "" as they were
		asked  int
	}{
		"the session":              {func(s *comparison, _ *answers) { s.Session = "another" }, "", 0},
		"the weight":               {first(func(p *prepared) { p.Rubric.Weight = new(metric.FromInt(1)) }), "", 0},
		"the judge":                {func(_ *comparison, j *answers) { j.name = "another" }, "", 4},
		"the criteria":             {first(func(p *prepared) { p.Rubric.Criteria = "is it short?" }), "", 4},
		"a side's key":             {first(func(p *prepared) { p.keys[theCandidate] = strings.Repeat("f", 32) }), "", 4},
		"what one run left":        {left(theCandidate, 1, record{Digest: "else"}), "", 1},
		"what one run failed with": {left(theBaseline, 0, record{Run: tasks.Run{Failure: "timeout"}}), "", 1},
		"half of it is written":    {nil, `{"score0to1": 0.`, 4},
		"a score of null":          {nil, `{"score0to1": null}`, 4},
		"one that is too big":      {nil, long, 4},
	} {
		s, _ := toJudge(t, 1, "y")
		_, _, err := s.judgeAll(t.Context(), 2)
		require.NoError(t, err)
		next, again := toJudge(t, 1, "y")
		if next.Archive = s.Archive; c.change != nil {
			c.change(next, again)
		}
		found, err := filepath.Glob(filepath.Join(s.Archive.Dir, "judgements", "*", judgementFile))
		require.NoError(t, err)
		require.Len(t, found, 4)
		for _, file := range found {
			if c.kept != "" {
				require.NoError(t, os.WriteFile(file, []byte(c.kept), 0o600))
			}
		}
		given, _, err := next.judgeAll(t.Context(), 2)
		require.NoError(t, err)
		assert.Len(t, given, 4)
		assert.Len(t, again.cases, c.asked, name)
	}
}

// TestOrderOfJudging: every run once, in an order that is the same when a comparison goes
// on and another in each comparison.
func TestOrderOfJudging(t *testing.T) {
	t.Parallel()
	order := func(session string) []unit {
		s, _ := toJudge(t, 6, "y")
		s.Session = session
		return (&judging{comparison: s}).order(2)
	}
	first := order("one")
	assert.Equal(t, first, order("one"))
	assert.NotEqual(t, first, order("two"))
	assert.ElementsMatch(t, first, order("two"))
	seen, both := map[unit]bool{}, 0 // of how many neighbours the sides change; of those in turn, all do
	for i, u := range first {
		if seen[u] = true; i > 0 && first[i-1].side != u.side {
			both++
		}
	}
	assert.Len(t, seen, 12)
	assert.Less(t, both, 11)
}

// TestJudgesSeeWhatThereIs: the diff of a run, its words, failure and
// checks; nothing where a file is gone.
func TestJudgesSeeWhatThereIs(t *testing.T) {
	t.Parallel()
	s, j := toJudge(t, 1, "y")
	dir, long := t.TempDir(), strings.Repeat("+x\n", 100<<10)
	require.NoError(t, os.WriteFile(filepath.Join(dir, diffFile), []byte(long), 0o600))
	whole := record{
		dir: dir, Words: "done", Run: tasks.Run{Failure: "timeout", Checks: []tasks.CheckResult{{Name: "c"}}},
	}
	s.records = map[unit]record{{0, theBaseline, 0}: whole, {0, theCandidate, 0}: {dir: filepath.Join(dir, "gone")}}
	_, _, err := s.judgeAll(t.Context(), 1)
	require.NoError(t, err)
	assert.ElementsMatch(t, []judge.Work{
		{
			Title: "Task 0", Criteria: "is it good?", Diff: long, Words: "done", Failure: "timeout",
			Checks: whole.Checks,
		},
		{Title: "Task 0", Criteria: "is it good?"},
	}, j.cases)
	// What cannot be kept would be asked again and again.
	s.records = map[unit]record{{0, theBaseline, 0}: {Digest: "new"}, {0, theCandidate, 0}: {Digest: "new"}}
	require.NoError(t, os.RemoveAll(s.Archive.Dir))
	require.NoError(t, os.WriteFile(s.Archive.Dir, nil, 0o600), "a file is in the way")
	_, _, err = s.judgeAll(t.Context(), 1)
	require.ErrorContains(t, err, "keep a result as ")
	s.Archive.Stage = filepath.Join(s.Archive.Stage, "gone")
	_, _, err = s.judgeAll(t.Context(), 1)
	require.ErrorContains(t, err, "begin to keep a result: ")
}

// TestRecall: a kept run is taken when it can be read.
func TestRecall(t *testing.T) {
	t.Parallel()
	good := record{Session: "s", Words: "w", Digest: "d", Crashed: true, Run: tasks.Run{
		Objective: tasks.Objective{Passed: 1, Total: 2}, Failure: "f",
		Cost: tasks.Cost{Tokens: new(metric.FromInt(7)), USD: nil},
		Checks: []tasks.CheckResult{
			{Kind: suite.FileExists, Name: "a", Passed: true},
			{Kind: suite.CommandCheck, Name: "x", Detail: "exit code 1"},
		},
	}}
	data, err := json.Marshal(good)
	require.NoError(t, err)
	text := string(data)
	with := func(old, other string) string { return strings.Replace(text, old, other, 1) }
	for name, c := range map[string]struct {
		text  string
		taken bool
	}{
		"as it was kept":      {text, true},
		"with a key of later": {with("{", `{"later": {"a": 1},`), true},
		"without its end":     {text[:len(text)-1], false},
		"null":                {"null", false},
		"too big":             {text[:len(text)-1] + `, "x": "` + strings.Repeat("x", 4<<20) + `"}`, false},
		"a cost of a text":    {with(`"tokens":7`, `"tokens":"7"`), false},
	} {
		s, _ := toJudge(t, 1, "y")
		dir := filepath.Join(s.Archive.Dir, s.tasks[0].keys[theCandidate], "2")
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, recordFile), []byte(c.text), 0o600))
		r, taken := s.recall(unit{0, theCandidate, 1})
		require.Equal(t, c.taken, taken, name)
		if good.dir = dir; taken {
			assert.Equal(t, good, r, name)
		}
		for _, u := range []unit{{0, theBaseline, 1}, {0, theCandidate, 0}} {
			_, other := s.recall(u)
			assert.False(t, other, "a run is of one side and one repeat")
		}
	}
}
