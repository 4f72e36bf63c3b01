package taskrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/org/autoloop/internal/cure"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/tasks/format"
	"github.com/org/autoloop/internal/tasks/judge"
)

// maxSilence is how many cases in a row a judge may leave unanswered before it
// is asked no more.
const maxSilence = 3

// errSilent ends judging; it never ends a comparison.
var errSilent = cure.JudgeSilent.Errorf("the judge did not answer three times in a row and is left out of this comparison")

// judging asks the judge about every run of the tasks with a rubric.
type judging struct {
	*session

	mu       sync.Mutex
	given    map[unit]*format.Judgement
	problems []string
	silence  int
	// asked of total cases are done with.
	asked, total int
}

// judgeAll judges both sides in one go, by the same judge, in an order that has
// nothing to do with the sides. A judge that does not answer is a problem in
// the report; the error is for the end of ctx, the budget and the disk.
func (s *session) judgeAll(ctx context.Context, repeats int) (map[unit]*format.Judgement, []string, error) {
	j := &judging{session: s, given: map[unit]*format.Judgement{}}
	if !s.suite.Judged() {
		return nil, nil, nil
	}
	if s.Judge == nil {
		return nil, slices.DeleteFunc([]string{s.NoJudge}, func(why string) bool { return why == "" }), nil
	}
	var wait sync.WaitGroup
	var failed error
	slots := make(chan struct{}, s.Jobs)
	cases := j.order(repeats)
	j.total = len(cases)
	for _, u := range cases {
		slots <- struct{}{}
		j.mu.Lock()
		if failed == nil {
			failed = j.mayAsk()
		}
		stop := failed != nil || ctx.Err() != nil
		j.mu.Unlock()
		if stop {
			break
		}
		wait.Go(func() {
			defer func() { <-slots }()
			if err := j.one(ctx, u); err != nil {
				j.mu.Lock()
				defer j.mu.Unlock()
				failed = errors.Join(failed, err)
			}
		})
	}
	wait.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case errors.Is(failed, errSilent) || j.silence >= maxSilence:
		return nil, append([]string{errSilent.Error()}, j.problems...), nil
	}
	return j.given, j.problems, failed
}

func (j *judging) mayAsk() error {
	if j.silence >= maxSilence {
		return errSilent
	}
	if err := j.spent.over(j.Budget, j.Now()); err != nil {
		return fmt.Errorf("%w while judging; %w", err, ErrIncomplete)
	}
	return nil
}

// order lists the runs to judge by a digest that tells nothing.
func (j *judging) order(repeats int) []unit {
	type drawn struct {
		unit

		lot string
	}
	var lots []drawn
	for _, u := range j.units(repeats) {
		if j.tasks[u.task].Rubric != nil {
			lots = append(lots, drawn{u, digest([]any{j.Session, u.task, u.side, u.repeat})})
		}
	}
	slices.SortFunc(lots, func(a, b drawn) int { return strings.Compare(a.lot, b.lot) })
	list := make([]unit, len(lots))
	for i, lot := range lots {
		list[i] = lot.unit
	}
	return list
}

const judgementFile = "judgement.json"

// place is where a judgement is kept: it holds for this run, in this
// comparison, by this judge.
func (j *judging) place(u unit) string {
	task := j.tasks[u.task]
	return "judgements/" + digest([]any{recordFormat, task.keys, u.side, u.repeat, j.Judge.Name(), task.Title, task.Rubric.Criteria, j.records[u]})
}

// one judges a run, unless it was judged before the comparison was interrupted.
func (j *judging) one(ctx context.Context, u unit) error {
	place := j.place(u)
	if data, err := j.Archive.Read(place, judgementFile, maxRecord); err == nil && !j.Fresh {
		var kept format.Judgement
		if json.Unmarshal(data, &kept) == nil && kept.Score.Finite() {
			j.note(u, judge.Opinion{Judgement: &kept, Tokens: new(int64), USD: &metric.Value{}})
			return nil
		}
	}
	verdict, err := j.Judge.Judge(ctx, j.caseOf(u))
	if err != nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.spent.judged(verdict)
		return err
	}
	j.note(u, verdict)
	if verdict.Judgement == nil {
		return nil
	}
	text, err := json.Marshal(verdict.Judgement)
	if err != nil {
		return fmt.Errorf("keep a judgement: %w", err)
	}
	staged, err := j.Archive.Begin()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(staged, judgementFile), text, 0o600); err != nil {
		return fmt.Errorf("keep a judgement: %w", err)
	}
	return j.Archive.Keep(staged, place)
}

// note takes a verdict in.
func (j *judging) note(u unit, verdict judge.Opinion) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.spent.judged(verdict)
	j.asked++
	j.tell(Progress{Judged: j.asked, ToJudge: j.total})
	if verdict.Judgement != nil {
		j.given[u] = verdict.Judgement
		j.silence = 0
		return
	}
	j.silence++
	j.problems = append(j.problems, fmt.Sprintf("task %s, run %d of the %s: %s", j.tasks[u.task].ID, u.repeat+1, u.side, verdict.Problem))
}

func (j *judging) caseOf(u unit) judge.Case {
	task, r := j.tasks[u.task], j.records[u]
	return judge.Case{
		Title: task.Title, Prompt: task.Prompt, Criteria: task.Rubric.Criteria,
		Diff: r.diff(), Words: r.Words, Failure: r.Failure, Checks: r.Checks,
	}
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
