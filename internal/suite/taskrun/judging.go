package taskrun

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/judge"
	"github.com/org/autoloop/internal/suite/work"
)

// maxSilence is how many cases of one side in a row a judge may leave unanswered
// before it is asked no more about that side.
const maxSilence = 3

// judging asks the judge about every run of the tasks with a rubric.
type judging struct {
	*session

	mu       sync.Mutex
	given    map[unit]*format.Judgement
	problems []string
	// silence counts the unanswered cases of each side in a row; a side that is
	// silent stays so.
	silence [roles]int
	// asked of total cases are done with.
	asked, total int
}

// judgeAll judges both sides in one go, by the same judge, in an order that has
// nothing to do with the sides. A judge that does not answer is a problem in
// the report; the error is for the end of ctx, the budget and the disk.
//
// Each side has its own silence: a judge that answers about one side alone must
// come out one-sided in whatever order it was asked, not as no judge at all.
func (s *session) judgeAll(ctx context.Context, repeats int) (map[unit]*format.Judgement, []string, error) {
	j := &judging{session: s, given: map[unit]*format.Judgement{}}
	if !s.suite.Judged() {
		return nil, nil, nil
	}
	if s.Grader == nil {
		return nil, slices.DeleteFunc([]string{s.NoGrader}, func(why string) bool { return why == "" }), nil
	}
	cases := j.order(repeats)
	j.total = len(cases)
	failed := work.Each(ctx, s.Jobs, cases, func(u unit) error {
		if err := j.spent.Over(j.Now()); err != nil && !j.left(u) {
			return outOf("%w while judging", err)
		}
		return nil
	}, func(ctx context.Context, u unit) error {
		if j.left(u) {
			return nil
		}
		return j.one(ctx, u)
	})
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return j.given, append(j.leaveOut(), j.problems...), failed
}

// left reports whether the judge is asked no more about a run's side.
func (j *judging) left(u unit) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.silent(u.side)
}

// leaveOut drops the judgements of the sides about which the judge is silent, and
// says so.
func (j *judging) leaveOut() []string {
	maps.DeleteFunc(j.given, func(u unit, _ *format.Judgement) bool { return j.silent(u.side) })
	var sides []string
	for side := range roles {
		if j.silent(side) {
			sides = append(sides, "the "+side.String())
		}
	}
	if sides == nil {
		return nil
	}
	return []string{"the judge did not answer three times in a row (is its key or login right?) and is left out for " +
		strings.Join(sides, " and ")}
}

// silent reports whether a side's judgements are left out.
func (j *judging) silent(side role) bool { return j.silence[side] >= maxSilence }

// order lists the runs to judge by a digest that tells nothing.
func (j *judging) order(repeats int) []unit {
	list := slices.DeleteFunc(j.units(repeats), func(u unit) bool { return j.tasks[u.task].Rubric == nil })
	lot := func(u unit) string { return digest([]any{j.Session, u.task, u.side, u.repeat}) }
	slices.SortFunc(list, func(a, b unit) int { return strings.Compare(lot(a), lot(b)) })
	return list
}

const judgementFile = "judgement.json"

// place is where a judgement is kept: it holds for this run, in this
// comparison, by this judge.
func (j *judging) place(u unit) string {
	task := j.tasks[u.task]
	return "judgements/" + digest([]any{
		recordFormat, task.keys, u.side, u.repeat, j.Grader.Name(), task.Title,
		task.Rubric.Criteria, j.records[u],
	})
}

// one judges a run, unless it was judged before the comparison was interrupted.
func (j *judging) one(ctx context.Context, u unit) error {
	place := j.place(u)
	var kept format.Judgement
	if !j.Fresh && j.Archive.Read(place, judgementFile, &kept) && kept.Score.Finite() {
		j.note(u, judge.Opinion{Judgement: &kept, Usage: metric.Usage{InputTokens: new(int64), CostUSD: &metric.Value{}}})
		return nil
	}
	task, r := j.tasks[u.task], j.records[u]
	verdict, err := j.Grader.Grade(ctx, judge.Work{
		Title: task.Title, Prompt: task.Prompt, Criteria: task.Rubric.Criteria,
		Diff: r.diff(), Words: r.Words, Failure: r.Failure, Checks: r.Checks,
	})
	if err != nil {
		j.spent.Add(verdict.Usage, true)
		return err
	}
	j.note(u, verdict)
	if verdict.Judgement == nil {
		return nil
	}
	staged, err := j.Archive.Begin()
	if err != nil {
		return err
	}
	return j.Archive.Keep(staged, place, judgementFile, verdict.Judgement)
}

// note takes a verdict in.
func (j *judging) note(u unit, verdict judge.Opinion) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.spent.Add(verdict.Usage, true)
	j.asked++
	j.tell(Progress{Judged: j.asked, ToJudge: j.total})
	if verdict.Judgement != nil {
		j.given[u] = verdict.Judgement
		if !j.silent(u.side) {
			j.silence[u.side] = 0
		}
		return
	}
	j.silence[u.side]++
	j.problems = append(j.problems,
		fmt.Sprintf("task %s, run %d of the %s: %s", j.tasks[u.task].ID, u.repeat+1, u.side, verdict.Problem))
}

// diff is what can be shown of a run's changes.
func (r record) diff() string {
	const most = 256 << 10
	file, err := os.Open(filepath.Join(r.dir, diffFile))
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	text, _ := io.ReadAll(io.LimitReader(file, most))
	return string(text)
}
