package tasks

import (
	"cmp"
	"strings"

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite"
)

// What a file with an outcome may hold.
const (
	maxOutcome   = 64 << 20
	maxRuns      = 100
	maxRationale = 64 << 10
)

// ParseOutcome reads a file with the outcome of one configuration: an object
// with `scores`, or one with `runs`, a list of such objects, when the suite was
// run several times. Keys that are not known are ignored. A missing composite
// is computed; a null one, and numbers that are NaN, infinite or out of range,
// are not finite. `stochastic` is obeyed; a false beside a judge, tokens or money
// is a contradiction, and refused. The problems are all there are; with any of them the outcome
// is empty.
func ParseOutcome(file string, data []byte) (SuiteOutcome, document.Problems) {
	root, ok := document.Read(file, document.FiniteWords(data), maxOutcome, document.Object)
	o := &outcomeReader{byID: map[string]int{}}
	if ok {
		o.read(root)
		if said := o.outcome.Stochastic; len(root.Problems) == 0 && said != nil && !*said && o.outcome.MayVary() {
			root.Below("stochastic").Fail("is false, but a judge answered, or tokens or money were spent: leave it out " +
				"or say true")
		}
	}
	if len(root.Problems) > 0 {
		return SuiteOutcome{}, root.Problems
	}
	o.outcome.NonFiniteAt = root.Stray
	return o.outcome, nil
}

// outcomeReader reads one file.
type outcomeReader struct {
	outcome SuiteOutcome
	byID    map[string]int // place in outcome.Scores
	run     *Run           // that is read, and at its key
	at      string
}

func (o *outcomeReader) read(root document.Node) {
	switch {
	case root.Has("runs") && root.Has("scores"):
		root.Below("runs").Fail("is beside `scores`; give `scores` of one run, or `runs` with a list of outcomes")
	case root.Has("runs"):
		take := o.labels()
		take["runs"] = func(n document.Node) {
			n.List(maxRuns, o.once)
			if len(n.Items) == 0 && n.Type == document.List {
				n.Fail("is empty")
			}
			if len(n.Items) > o.outcome.Runs() {
				o.outcome.Made = len(n.Items)
			}
		}
		root.Object(take, false)
	default:
		o.once(root)
	}
}

// labels are the keys of an outcome beside its scores.
func (o *outcomeReader) labels() document.Keys {
	return document.Keys{
		"configLabel": document.Optional(&o.outcome.ConfigLabel, suite.MaxName),
		"stochastic":  o.oneSays(&o.outcome.Stochastic, true),
		"interleaved": o.oneSays(&o.outcome.Interleaved, false),
	}
}

// oneSays reads what is so of the outcome when one of its runs says it.
func (o *outcomeReader) oneSays(to **bool, decides bool) func(document.Node) {
	return func(n document.Node) {
		if n.Type == document.Null {
			return
		}
		if truth := n.Bool(); *to == nil || truth == decides {
			*to = &truth
		}
	}
}

// once reads one run of the suite.
func (o *outcomeReader) once(n document.Node) {
	seen := map[string]bool{}
	take := o.labels()
	take["scores"] = func(n document.Node) {
		n.List(maxTasks, func(n document.Node) { o.score(n, seen) })
	}
	n.Object(take, false, "scores")
}

// score reads one task of one run.
func (o *outcomeReader) score(n document.Node, seen map[string]bool) {
	var id string
	var weight *metric.Value
	var run Run
	o.run, o.at = &run, n.Key()+"."
	n.Object(document.Keys{
		"taskId": func(n document.Node) {
			if id = n.Filled(suite.MaxName); id != "" && seen[id] {
				n.Fail("%s is there twice; every task has one entry in a run", document.Quote(id))
			}
			seen[id] = true
		},
		"judgeWeight": func(n document.Node) {
			if n.Type != document.Null {
				weight = n.Fraction()
			}
		},
		"objective":  document.Into(&run.Objective, o.objective),
		"judge":      document.Into(&run.Judge, o.judge),
		"cost":       document.Into(&run.Cost, o.cost),
		"composite":  document.Into(&run.Composite, o.within),
		"checks":     document.Into(&run.Checks, o.checks),
		"failure":    document.Optional(&run.Failure, maxRationale),
		"transcript": document.Optional(&run.Transcript, document.MaxPath),
		"diff":       document.Optional(&run.Diff, document.MaxPath),
	}, false, "taskId", "objective")
	place, known := o.byID[id]
	if !known {
		place = len(o.outcome.Scores)
		o.byID[id] = place
		o.outcome.Scores = append(o.outcome.Scores, Score{TaskID: id, JudgeWeight: weight})
	}
	s := &o.outcome.Scores[place]
	s.Runs = append(s.Runs, run)
}

func (o *outcomeReader) objective(n document.Node) (objective Objective) {
	count := func(to *int) func(document.Node) {
		return func(n document.Node) {
			const most = 1 << 53
			if value := o.number(n, "a whole number, 0 or more", func(v metric.Value) bool {
				return v.Sign() >= 0 && v.Rat().IsInt() && v.Cmp(metric.FromInt(most)) <= 0
			}); value != nil {
				*to = int(value.Rat().Num().Int64())
			}
		}
	}
	n.Object(document.Keys{"passed": count(&objective.Passed), "total": count(&objective.Total)}, false,
		"passed", "total")
	if objective.Passed > objective.Total && o.run.NonFinite == "" {
		n.Fail("has %d passed of %d", objective.Passed, objective.Total)
	}
	return objective
}

// number reads one that must be what fits says; nil, which is noted, where it is not finite, as null is not.
func (o *outcomeReader) number(n document.Node, must string, fits func(metric.Value) bool) *metric.Value {
	var value metric.Value
	finite := false
	if n.Type != document.Null {
		value, finite = n.Number()
	}
	if !finite {
		o.run.NonFinite = cmp.Or(o.run.NonFinite, strings.TrimPrefix(n.Key(), o.at))
		return nil
	}
	if !fits(value) {
		n.Fail("is %s; it must be %s", plain.Short(n.Text, document.MaxShown), must)
	}
	return &value
}

// within reads a number from 0 to 1.
func (o *outcomeReader) within(n document.Node) *metric.Value {
	return o.number(n, "from 0 to 1", document.WithinOne)
}

// judge reads a judge's answer; null means no answer.
func (o *outcomeReader) judge(n document.Node) *Judgement {
	if n.Type == document.Null {
		return nil
	}
	var judgement Judgement
	n.Object(document.Keys{
		"score0to1": func(n document.Node) {
			judgement.Score = *cmp.Or(o.within(n), &metric.Value{})
		},
		"rationale": document.Optional(&judgement.Rationale, maxRationale),
		"model":     document.Optional(&judgement.Model, suite.MaxName),
	}, false, "score0to1")
	return &judgement
}

// cost reads what a run used; null, as a whole or of a part, is unknown.
func (o *outcomeReader) cost(n document.Node) (cost Cost) {
	if n.Type == document.Null {
		return cost
	}
	take := document.Keys{}
	for i, place := range Places(&cost) {
		take[costKeys[i]] = func(n document.Node) {
			if n.Type != document.Null {
				*place = o.number(n, "0 or more, and null when it is not known",
					func(v metric.Value) bool { return v.Sign() >= 0 })
			}
		}
	}
	n.Object(take, false)
	return cost
}

func (o *outcomeReader) checks(n document.Node) []CheckResult {
	if n.Type == document.Null {
		return nil
	}
	list := []CheckResult{}
	n.List(suite.MaxChecks, func(n document.Node) {
		var check CheckResult
		n.Object(document.Keys{
			"kind":   document.Optional((*string)(&check.Kind), suite.MaxName),
			"name":   document.Optional(&check.Name, suite.MaxCommand),
			"passed": document.Into(&check.Passed, document.Node.Bool),
			"detail": document.Optional(&check.Detail, maxRationale),
		}, false, "passed")
		list = append(list, check)
	})
	return list
}
