package format

import (
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
	r, root, ok := document.ReadObject(file, document.FiniteWords(data), maxOutcome)
	o := &outcomeReader{Reader: r, byID: map[string]int{}}
	if ok {
		o.read(root)
		if said := o.outcome.Stochastic; len(r.Problems) == 0 && said != nil && !*said && o.outcome.MayVary() {
			o.Fail(root, "stochastic", "is false, but a judge answered, or tokens or money were spent: leave it out "+
				"or say true")
		}
	}
	if len(r.Problems) > 0 {
		return SuiteOutcome{}, r.Problems
	}
	o.outcome.NonFiniteAt = r.Stray
	return o.outcome, nil
}

// outcomeReader reads one file.
type outcomeReader struct {
	*document.Reader
	outcome SuiteOutcome
	byID    map[string]int // place in outcome.Scores
}

func (o *outcomeReader) read(root document.Node) {
	switch {
	case root.Has("runs") && root.Has("scores"):
		o.Fail(root, "runs", "is beside `scores`; give `scores` of one run, or `runs` with a list of outcomes")
	case root.Has("runs"):
		take := o.labels()
		take["runs"] = func(n document.Node, key string) {
			o.List(n, key, maxRuns, o.run)
			if len(n.Items) == 0 && n.Type == document.List {
				o.Fail(n, key, "is empty")
			}
			if len(n.Items) > o.outcome.Runs() {
				o.outcome.Made = len(n.Items)
			}
		}
		o.Object(root, "", take, false)
	default:
		o.run(root, "")
	}
}

// labels are the keys of an outcome beside its scores.
func (o *outcomeReader) labels() document.Keys {
	return document.Keys{
		"configLabel": o.OptionalInto(&o.outcome.ConfigLabel, suite.MaxName),
		"stochastic": func(n document.Node, key string) {
			if n.Type == document.Null {
				return
			}
			if truth := o.Truth(n, key); o.outcome.Stochastic == nil || truth {
				o.outcome.Stochastic = &truth
			}
		},
	}
}

// run reads one run of the suite.
func (o *outcomeReader) run(n document.Node, key string) {
	seen := map[string]bool{}
	take := o.labels()
	take["scores"] = func(n document.Node, key string) {
		o.List(n, key, maxTasks, func(n document.Node, key string) { o.score(n, key, seen) })
	}
	o.Object(n, key, take, false, "scores")
}

// score reads one task of one run.
func (o *outcomeReader) score(n document.Node, key string, seen map[string]bool) {
	var id string
	var weight *metric.Value
	var run Run
	o.Object(n, key, document.Keys{
		"taskId": func(n document.Node, key string) {
			if id = o.Text(n, key, suite.MaxName); id != "" && seen[id] {
				o.Fail(n, key, "%s is there twice; every task has one entry in a run", document.Quote(id))
			}
			seen[id] = true
		},
		"judgeWeight": func(n document.Node, key string) {
			if n.Type != document.Null {
				weight = o.Fraction(n, key)
			}
		},
		"objective":  document.Into(&run.Objective, o.objective),
		"judge":      document.Into(&run.Judge, o.judge),
		"cost":       document.Into(&run.Cost, o.cost),
		"composite":  func(n document.Node, key string) { run.Composite = new(o.within(n, key)) },
		"checks":     document.Into(&run.Checks, o.checks),
		"failure":    o.OptionalInto(&run.Failure, maxRationale),
		"transcript": o.OptionalInto(&run.Transcript, document.MaxPath),
		"diff":       o.OptionalInto(&run.Diff, document.MaxPath),
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

func (o *outcomeReader) objective(n document.Node, key string) Objective {
	objective := Objective{Passed: metric.NonFinite(), Total: metric.NonFinite()}
	count := o.number("a whole number, 0 or more",
		func(v metric.Value) bool { return v.Sign() >= 0 && metric.IsWhole(v) })
	o.Object(n, key, document.Keys{
		"passed": document.Into(&objective.Passed, count),
		"total":  document.Into(&objective.Total, count),
	}, false, "passed", "total")
	passed, ok := objective.Passed.Value()
	total, finite := objective.Total.Value()
	if ok && finite && passed.Cmp(total) > 0 {
		o.Fail(n, key, "has %s passed of %s", passed, total)
	}
	return objective
}

// number reads one, of which null is not finite; one that is finite must be what fits says.
func (o *outcomeReader) number(must string, fits func(metric.Value) bool) func(document.Node, string) metric.Number {
	return func(n document.Node, key string) metric.Number {
		if n.Type == document.Null {
			return metric.NonFinite()
		}
		number := o.Number(n, key)
		if value, ok := number.Value(); ok && !fits(value) {
			o.Fail(n, key, "is %s; it must be %s", plain.Short(n.Text, document.MaxShown), must)
		}
		return number
	}
}

// within reads a number from 0 to 1.
func (o *outcomeReader) within(n document.Node, key string) metric.Number {
	return o.number("from 0 to 1", document.WithinOne)(n, key)
}

// judge reads a judge's answer; null means no answer.
func (o *outcomeReader) judge(n document.Node, key string) *Judgement {
	if n.Type == document.Null {
		return nil
	}
	judgement := Judgement{Score: metric.NonFinite()}
	o.Object(n, key, document.Keys{
		"score0to1": document.Into(&judgement.Score, o.within),
		"rationale": o.OptionalInto(&judgement.Rationale, maxRationale),
		"model":     o.OptionalInto(&judgement.Model, suite.MaxName),
	}, false, "score0to1")
	return &judgement
}

// cost reads what a run used; null, as a whole or of a part, is unknown.
func (o *outcomeReader) cost(n document.Node, key string) (cost Cost) {
	if n.Type == document.Null {
		return cost
	}
	read := o.number("0 or more, and null when it is not known", func(v metric.Value) bool { return v.Sign() >= 0 })
	take := document.Keys{}
	for i, place := range Places(&cost) {
		take[costKeys[i]] = func(n document.Node, key string) {
			if n.Type != document.Null {
				*place = new(read(n, key))
			}
		}
	}
	o.Object(n, key, take, false)
	return cost
}

func (o *outcomeReader) checks(n document.Node, key string) []CheckResult {
	if n.Type == document.Null {
		return nil
	}
	list := []CheckResult{}
	o.List(n, key, suite.MaxChecks, func(n document.Node, key string) {
		var check CheckResult
		o.Object(n, key, document.Keys{
			"kind":   o.OptionalInto((*string)(&check.Kind), suite.MaxName),
			"name":   o.OptionalInto(&check.Name, suite.MaxCommand),
			"passed": document.Into(&check.Passed, o.Truth),
			"detail": o.OptionalInto(&check.Detail, maxRationale),
		}, false, "passed")
		list = append(list, check)
	})
	return list
}
