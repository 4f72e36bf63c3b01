package taskrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/cache"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/judge"
	"github.com/org/autoloop/internal/suite/work"
)

// answers is a judge that answers the cases in their order as a text says: "y" is an
// answer, "-" is none, "!" the end of the comparison; the last one goes on for ever. Each
// answer takes a hundred tokens.
type answers struct {
	name, text string

	mu    sync.Mutex
	cases []judge.Work
	stop  func(error)
}

var errStopped = errors.New("stopped")

func (a *answers) Name() string { return a.name }

func (a *answers) Grade(_ context.Context, c judge.Work) (judge.Opinion, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	as := a.text[min(len(a.cases), len(a.text)-1)]
	a.cases = append(a.cases, c)
	found := judge.Opinion{Tokens: new(int64(100)), USD: new(metric.MustValue("0.01"))}
	switch as {
	case '!':
		a.stop(errStopped)
		return found, errStopped
	case 'y':
		found.Judgement = &format.Judgement{
			Score:     metric.NumberOf(metric.MustValue("0.5")),
			Rationale: c.Title, Model: "m",
		}
	default:
		found.Problem = "no answer"
	}
	return found, nil
}

// toJudge is a comparison whose runs are made: of each task there are two on each side, and
// every second task has a rubric.
func toJudge(t *testing.T, tasks int, j judge.Grader) *session {
	t.Helper()
	s := simulated(t, tasks, func(role, int, int) bool { return true })
	base := t.TempDir()
	s.Archive = &cache.Archive{Dir: filepath.Join(base, "kept"), Stage: base}
	s.Grader, s.Session = j, "session"
	for i, p := range s.tasks {
		p.Title, p.keys = fmt.Sprint("Task ", i), [roles]string{fmt.Sprintf("%032d", i), fmt.Sprintf("%032d", 100+i)}
		if i%2 == 0 {
			p.Rubric = &format.Rubric{Criteria: "is it good?"}
		}
		s.suite.Tasks = append(s.suite.Tasks, p.Task)
		for side := range roles {
			for k := range 2 {
				s.records[unit{i, side, k}] = record{Format: recordFormat, Digest: fmt.Sprint(i, side, k)}
			}
		}
	}
	return s
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
		j := &answers{name: "j", text: text}
		s := toJudge(t, 4, j)
		var told []Progress
		s.Progress = func(p Progress) { told = append(told, p) }
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
		for i, p := range told {
			assert.Equal(t, []int{i + 1, 8}, []int{p.Judged, p.ToJudge})
			assert.Equal(t, int64(100*(i+1)), p.Tokens, "what a judge costs is told")
		}
		assert.Equal(t, int64(100*c.asked), *s.expense().Tokens)
		for u := range given {
			assert.Zero(t, u.task%2, "without a rubric nothing is judged")
		}
	}
	for name, c := range map[string]struct {
		rubric bool
		why    string
		says   []string
	}{
		"nothing to judge": {false, "no key", nil},
		"nobody to judge":  {true, "no key", []string{"no key"}},
		"nobody is wanted": {true, "", []string{}},
	} {
		s := toJudge(t, 1, nil)
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
		budget work.Budget
		is     error // or says alone
		says   string
		asked  int // until it ended
		then   int // when it goes on
	}{
		"the end":         {"y", work.Budget{}, nil, "", 8, 0},
		"an interruption": {"yyy!", work.Budget{}, errStopped, "stopped", 4, 5},
		"a budget of tokens": {
			"y", work.Budget{Tokens: 250}, nil, "250 tokens is used up while judging", 3, 5,
		},
		"a case without answer": {"yy-y", work.Budget{}, nil, "", 8, 1},
	} {
		ctx, stop := context.WithCancelCause(t.Context())
		j := &answers{name: "j", text: c.text, stop: stop}
		s := toJudge(t, 4, j)
		s.spent.Budget = c.budget
		_, _, err := s.judgeAll(ctx, 2)
		if c.says == "" {
			require.ErrorIs(t, err, c.is, name)
		} else {
			require.ErrorContains(t, err, c.says)
		}
		assert.Len(t, j.cases, c.asked, name)
		assert.Equal(t, int64(100*c.asked), *s.expense().Tokens, "also what was not kept is paid")

		for _, fresh := range []bool{false, true} {
			again := &answers{name: "j", text: "y"}
			next := toJudge(t, 4, again)
			next.Archive, next.Fresh = s.Archive, fresh
			given, problems, err := next.judgeAll(t.Context(), 2)
			require.NoError(t, err)
			assert.Empty(t, problems)
			require.Len(t, given, 8)
			if fresh {
				assert.Len(t, again.cases, 8)
				continue
			}
			assert.Len(t, again.cases, c.then, name)
			assert.Equal(t, int64(100*c.then), *next.expense().Tokens)
			assert.Zero(t, next.expense().UnknownTokens, "what is kept costs nothing, and that is known")
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
	spoil := func(text string) func(*testing.T, *session) {
		return func(t *testing.T, s *session) {
			t.Helper()
			found, err := filepath.Glob(filepath.Join(s.Archive.Dir, "judgements", "*", judgementFile))
			require.NoError(t, err)
			require.Len(t, found, 4)
			for _, file := range found {
				require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*testing.T, *session)
		asked  int
	}{
		"the session":  {func(_ *testing.T, s *session) { s.Session = "another" }, 0},
		"the weight":   {func(_ *testing.T, s *session) { s.tasks[0].Rubric.Weight = new(metric.FromInt(1)) }, 0},
		"the judge":    {func(_ *testing.T, s *session) { s.Grader = &answers{name: "another", text: "y"} }, 4},
		"the criteria": {func(_ *testing.T, s *session) { s.tasks[0].Rubric.Criteria = "is it short?" }, 4},
		"a side's key": {func(_ *testing.T, s *session) { s.tasks[0].keys[theCandidate] = strings.Repeat("f", 32) }, 4},
		"what one run left": {func(_ *testing.T, s *session) {
			s.records[unit{0, theCandidate, 1}] = record{Digest: "else"}
		}, 1},
		"what one run failed with": {func(_ *testing.T, s *session) {
			s.records[unit{0, theBaseline, 0}] = record{Failure: "timeout"}
		}, 1},
		"half of it is written": {spoil(`{"score0to1": 0.`), 4},
		"a score of null":       {spoil(`{"score0to1": null}`), 4},
		"one that is too big": {
			spoil(`{"score0to1": 0.5, "rationale": "` + strings.Repeat("x", 4<<20) + `"}`), 4,
		},
	} {
		s := toJudge(t, 1, &answers{name: "j", text: "y"})
		_, _, err := s.judgeAll(t.Context(), 2)
		require.NoError(t, err)
		next := toJudge(t, 1, &answers{name: "j", text: "y"})
		next.Archive = s.Archive
		c.change(t, next)
		given, _, err := next.judgeAll(t.Context(), 2)
		require.NoError(t, err)
		assert.Len(t, given, 4)
		again, is := next.Grader.(*answers)
		require.True(t, is)
		assert.Len(t, again.cases, c.asked, name)
	}
}

// TestOrderOfJudging: every run once, in an order that is the same when a comparison goes
// on and another in each comparison.
func TestOrderOfJudging(t *testing.T) {
	t.Parallel()
	order := func(session string) []unit {
		s := toJudge(t, 6, nil)
		s.Session = session
		return (&judging{session: s}).order(2)
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

// TestJudgesSeeWhatThereIs: the diff of a run as far as it is shown, its words, failure and
// checks; nothing where a file is gone.
func TestJudgesSeeWhatThereIs(t *testing.T) {
	t.Parallel()
	j := &answers{name: "j", text: "y"}
	s := toJudge(t, 1, j)
	dir, long := t.TempDir(), strings.Repeat("+x\n", 100<<10)
	require.NoError(t, os.WriteFile(filepath.Join(dir, diffFile), []byte(long), 0o600))
	whole := record{dir: dir, Words: "done", Failure: "timeout", Checks: []format.CheckResult{{Name: "c"}}}
	s.records = map[unit]record{{0, theBaseline, 0}: whole, {0, theCandidate, 0}: {dir: filepath.Join(dir, "gone")}}
	_, _, err := s.judgeAll(t.Context(), 1)
	require.NoError(t, err)
	assert.ElementsMatch(t, []judge.Work{
		{
			Title: "Task 0", Criteria: "is it good?", Diff: long[:256<<10], Words: "done", Failure: "timeout",
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

// TestRecall: a kept run is taken when it is of this format and of these checks.
func TestRecall(t *testing.T) {
	t.Parallel()
	good := record{
		Format: recordFormat, Session: "s", Words: "w", Digest: "d", Failure: "f", Crashed: true,
		Cost: format.Cost{Tokens: new(metric.NumberFromInt(7)), USD: new(metric.NonFinite())},
		Checks: []format.CheckResult{
			{Kind: format.FileExists, Name: "a", Passed: true}, {
				Kind: format.CommandCheck, Name: "x",
				Detail: "exit code 1",
			},
		},
	}
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
		"of another format":   {with(`"format":1`, `"format":2`), false},
		"too big":             {text[:len(text)-1] + `, "x": "` + strings.Repeat("x", 4<<20) + `"}`, false},
		"a cost of a text":    {with(`"tokens":7`, `"tokens":"7"`), false},
	} {
		s := toJudge(t, 1, nil)
		s.tasks[0].Checks = []format.Check{{Kind: format.FileExists, Path: "a"}, {
			Kind:    format.CommandCheck,
			Command: "x",
		}}
		dir := filepath.Join(s.Archive.Dir, s.tasks[0].keys[theCandidate], "2")
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, recordFile), []byte(c.text), 0o600))
		r, taken := s.recall(unit{0, theCandidate, 1})
		require.Equal(t, c.taken, taken, name)
		want := record{}
		if taken {
			want = good
			want.dir = dir
		}
		assert.Equal(t, want, r, name)
		for _, u := range []unit{{0, theBaseline, 1}, {0, theCandidate, 0}} {
			_, other := s.recall(u)
			assert.False(t, other, "a run is of one side and one repeat")
		}
	}
}
