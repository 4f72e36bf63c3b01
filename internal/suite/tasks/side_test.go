package tasks_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/tasks"
)

// side reads an outcome in short. Tasks stand between semicolons, called a, b, … or as it says
// before a colon, and their runs between commas, with 5* before what is there five times.
// The words of a run are
//
//	2/3     passed of its checks, else 1/1     |a|b    names of its checks
//	=0.5    its composite                      !       it failed
//	j0.5    its judge's score                  @m      the judge m, who gives 0
//	t9      tokens    $9  money    m9  milliseconds
//	w0.2    the weight of the task's judge     -       nothing
//	sure, chance, x what is said of the outcome as a whole; x: it is not interleaved
func side(t testing.TB, text string) tasks.SuiteOutcome {
	t.Helper()
	var o tasks.SuiteOutcome
	for task := range strings.SplitSeq(text, ";") {
		if strings.TrimSpace(task) == "" {
			continue
		}
		s := tasks.Score{TaskID: string(rune('a' + len(o.Scores)))}
		if id, rest, named := strings.Cut(task, ":"); named {
			s.TaskID, task = strings.TrimSpace(id), rest
		}
		for run := range strings.SplitSeq(task, ",") {
			times := 1
			if many, rest, several := strings.Cut(run, "*"); several {
				times, _ = strconv.Atoi(strings.TrimSpace(many))
				run = rest
			}
			s.Runs = append(s.Runs, slices.Repeat([]tasks.Run{readRun(t, run, &o, &s)}, times)...)
		}
		o.Scores = append(o.Scores, s)
	}
	return o
}

func readRun(t testing.TB, text string, o *tasks.SuiteOutcome, s *tasks.Score) tasks.Run {
	t.Helper()
	run := tasks.Run{Objective: tasks.Objective{Passed: 1, Total: 1}}
	for word := range strings.FieldsSeq(text) {
		rest := word[1:]
		switch word[0] {
		case '=':
			run.Composite = number(rest, &run, "composite")
		case 'j':
			run.Judge = &tasks.Judgement{}
			if score := number(rest, &run, "judge.score0to1"); score != nil {
				run.Judge.Score = *score
			}
		case '@':
			run.Judge = &tasks.Judgement{Model: rest}
		case 't':
			run.Cost.Tokens = number(rest, &run, "cost.tokens")
		case '$':
			run.Cost.USD = number(rest, &run, "cost.costUsd")
		case 'm':
			run.Cost.WallClockMs = number(rest, &run, "cost.wallClockMs")
		case 'w':
			s.JudgeWeight = new(metric.MustValue(rest))
		case '|':
			run.Checks = []tasks.CheckResult{}
			for name := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == '|' }) {
				run.Checks = append(run.Checks,
					tasks.CheckResult{Name: name, Passed: len(run.Checks) < run.Objective.Passed})
			}
		case '!':
			run.Failure = "exit code 1"
		case 's', 'c':
			o.Stochastic = new(word == "chance")
		case 'x':
			o.Interleaved = new(false)
		case '-':
		default:
			passed, total, is := strings.Cut(word, "/")
			require.True(t, is, word)
			run.Objective.Passed, _ = strconv.Atoi(passed)
			if run.Objective.Total, _ = strconv.Atoi(total); total == "NaN" {
				run.NonFinite = "objective.total"
			}
		}
	}
	return run
}

func number(text string, run *tasks.Run, key string) *metric.Value {
	if text == "NaN" {
		run.NonFinite = key
		return nil
	}
	return new(metric.MustValue(text))
}

// apart begins a side that may not be interleaved with the other.
func apart(is bool) string {
	if is {
		return "x "
	}
	return ""
}

// compare compares what stands before and after an arrow.
func compare(t testing.TB, input string, set tasks.Thresholds) tasks.Comparison {
	t.Helper()
	before, after, _ := strings.Cut(input, "->")
	return tasks.Compare(side(t, before), side(t, after), set)
}

// verdict is what a comparison comes to, and the kinds of its reasons.
func verdict(c tasks.Comparison) string {
	words := []string{string(c.Verdict)}
	if c.Promotable {
		words = append(words, "promoted")
	}
	for _, r := range slices.Concat(c.Regressions, c.Notes) {
		words = append(words, string(r.Kind))
	}
	return strings.Join(words, " ")
}
