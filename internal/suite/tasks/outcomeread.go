package tasks

import (
	"strings"

	"github.com/org/autoloop/internal/suite"
)

// What a file with an outcome may hold.
const (
	maxOutcome = 64 << 20
	maxRuns    = 100
)

// ParseOutcome reads a file with the outcome of one configuration: an object
// with `scores`, or one with `runs`, a list of such objects, when the suite was
// run several times. Keys that are not known are ignored. A missing composite
// is computed; a null one, and numbers that are NaN, infinite or out of range,
// are not finite. `stochastic` is obeyed; a false beside a judge, tokens or money
// is a contradiction, and refused. The error has all problems, a line each.
func ParseOutcome(file string, data []byte) (SuiteOutcome, error) {
	root, ok := suite.Read(file, suite.FiniteWords(data), maxOutcome, suite.Object)
	o := &outcomeReader{byID: map[string]int{}}
	if ok {
		switch {
		case !root.Has("runs"):
			o.read(root, "scores")
		case root.Has("scores"):
			root.Below("runs").Fail("is beside `scores`; give `scores` of one run, or `runs` with a list of outcomes")
		default:
			o.read(root, "runs")
		}
		if said := o.outcome.Stochastic; root.Err() == nil && said != nil && !*said && o.outcome.MayVary() {
			root.Below("stochastic").Fail("is false, but a judge answered, or tokens or money were spent: leave it out " +
				"or say true")
		}
	}
	o.outcome.NonFiniteAt = root.Stray
	return o.outcome, root.Err()
}

// outcomeReader reads one file.
type outcomeReader struct {
	outcome SuiteOutcome
	byID    map[string]int // place in outcome.Scores
}

// read reads an outcome: of one run of the suite by its `scores`, or of several by `runs`, a list of such.
func (o *outcomeReader) read(n suite.Node, key string) {
	seen := map[string]bool{}
	n.Object(suite.Keys{
		"configLabel": suite.Optional(&o.outcome.ConfigLabel, suite.MaxName),
		"stochastic":  o.oneSays(&o.outcome.Stochastic, true),
		"interleaved": o.oneSays(&o.outcome.Interleaved, false),
		key: func(n suite.Node) {
			if key == "scores" {
				n.List(suite.MaxTasks, func(n suite.Node) { o.score(n, seen) })
				return
			}
			n.List(maxRuns, func(n suite.Node) { o.read(n, "scores") })
			if len(n.Items) == 0 && n.Type == suite.List {
				n.Fail("is empty")
			}
			if len(n.Items) > o.outcome.Runs() {
				o.outcome.Made = len(n.Items)
			}
		},
	}, false, key)
}

// oneSays reads what is so of the outcome when one of its runs says it.
func (o *outcomeReader) oneSays(to **bool, decides bool) func(suite.Node) {
	return func(n suite.Node) {
		if n.Type == suite.Null {
			return
		}
		if truth := n.Bool(); *to == nil || truth == decides {
			*to = &truth
		}
	}
}

// score reads one task of one run.
func (o *outcomeReader) score(n suite.Node, seen map[string]bool) {
	var score writtenScore
	keys, required := suite.KeysOf(&score)
	objective := keys["objective"]
	keys["taskId"] = func(n suite.Node) {
		if score.TaskID = n.Filled(suite.MaxName); score.TaskID != "" && seen[score.TaskID] {
			n.Fail("%s is there twice; every task has one entry in a run", suite.Quote(score.TaskID))
		}
		seen[score.TaskID] = true
	}
	keys["judgeWeight"] = func(n suite.Node) {
		if n.Type != suite.Null {
			score.JudgeWeight = n.Fraction()
		}
	}
	keys["objective"] = func(n suite.Node) {
		objective(n)
		if found := score.Objective; found.Passed > found.Total && n.NotFinite == "" {
			n.Fail("has %d passed of %d", found.Passed, found.Total)
		}
	}
	n.NotFinite = ""
	n.Object(keys, false, required...)
	score.NonFinite = strings.TrimPrefix(n.NotFinite, n.Key()+".")
	place, known := o.byID[score.TaskID]
	if !known {
		place = len(o.outcome.Scores)
		o.byID[score.TaskID] = place
		o.outcome.Scores = append(o.outcome.Scores, Score{TaskID: score.TaskID, JudgeWeight: score.JudgeWeight})
	}
	s := &o.outcome.Scores[place]
	s.Runs = append(s.Runs, score.Run)
}
