package evalrun

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/org/autoloop/internal/suite/judge"
	"github.com/org/autoloop/internal/suite/tasks"
)

// maxSilence is how many cases of one side in a row a judge may leave unanswered
// before it is asked no more about that side.
const maxSilence = 3

// judging asks the judge about every run of the tasks with a rubric.
type judging struct {
	*comparison

	mu       sync.Mutex
	given    map[unit]*tasks.Judgement
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
func (s *comparison) judgeAll(ctx context.Context, repeats int) (map[unit]*tasks.Judgement, []string, error) {
	switch {
	case !s.suite.Judged():
		return nil, nil, nil
	case s.Grader == nil && s.NoGrader == "":
		return nil, []string{}, nil
	case s.Grader == nil:
		return nil, []string{s.NoGrader}, nil
	}
	j := &judging{comparison: s, given: map[unit]*tasks.Judgement{}}
	cases := j.order(repeats)
	j.total = len(cases)
	failed := s.each(ctx, cases, func(u unit) error { return j.one(ctx, u) })
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	// The judgements of the sides about which the judge is silent are dropped.
	maps.DeleteFunc(j.given, func(u unit, _ *tasks.Judgement) bool { return j.left(u) })
	var sides []string
	for side := range roles {
		if j.left(unit{side: side}) {
			sides = append(sides, "the "+side.String())
		}
	}
	if sides != nil {
		j.problems = slices.Insert(j.problems, 0, "the judge did not answer three times in a row (is its key or login "+
			"right?) and is left out for "+strings.Join(sides, " and "))
	}
	return j.given, j.problems, failed
}

// left reports whether the judge is asked no more about a run's side.
func (j *judging) left(u unit) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.silence[u.side] >= maxSilence
}

// order lists the runs to judge by a digest that tells nothing.
func (j *judging) order(repeats int) []unit {
	list := slices.DeleteFunc(j.units(repeats), func(u unit) bool { return j.tasks[u.task].Rubric == nil })
	lot := func(u unit) string { return digest([]any{j.Session, u.task, u.side, u.repeat}) }
	slices.SortFunc(list, func(a, b unit) int { return strings.Compare(lot(a), lot(b)) })
	return list
}

const judgementFile = "judgement.json"

// one judges a run, unless it was judged before the comparison was interrupted. What is kept
// holds for this run, in this comparison, by this judge.
func (j *judging) one(ctx context.Context, u unit) error {
	if j.left(u) {
		return nil
	}
	task, r := j.tasks[u.task], j.records[u]
	place := "judgements/" + digest([]any{
		task.keys, u.side, u.repeat, j.Grader.Name(), task.Title, task.Rubric.Criteria, r,
	})
	opinion := judge.Opinion{Judgement: &tasks.Judgement{}}
	if j.Fresh || !j.Archive.Read(place, judgementFile, opinion.Judgement) {
		if err := j.spent.Over(j.Now()); err != nil {
			return err
		}
		diff, _ := os.ReadFile(filepath.Join(r.dir, diffFile)) // which may be gone
		var err error
		opinion, err = j.Grader.Grade(ctx, judge.Work{
			Title: task.Title, Prompt: task.Prompt, Criteria: task.Rubric.Criteria,
			Diff: string(diff), Words: r.Words, Failure: r.Failure, Checks: r.Checks,
		})
		j.spent.Add(opinion.Usage, true)
		var staged string
		if err == nil && opinion.Judgement != nil {
			if staged, err = j.Archive.Begin(); err == nil {
				err = j.Archive.Keep(staged, place, judgementFile, opinion.Judgement)
			}
		}
		if err != nil {
			return err
		}
	}
	j.note(u, opinion)
	return nil
}

// note takes an opinion in.
func (j *judging) note(u unit, opinion judge.Opinion) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked++
	j.say(fmt.Sprintf(", %d/%d judged", j.asked, j.total), "")
	if opinion.Judgement == nil {
		j.silence[u.side]++
		j.problems = append(j.problems,
			fmt.Sprintf("task %s, run %d of the %s: %s", j.tasks[u.task].ID, u.repeat+1, u.side, opinion.Problem))
		return
	}
	if j.given[u] = opinion.Judgement; j.silence[u.side] < maxSilence {
		j.silence[u.side] = 0
	}
}
