package format

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
	run     *Run           // that is read, and at its key
	at      string
}

func (o *outcomeReader) read(root document.Node) {
	switch {
	case root.Has("runs") && root.Has("scores"):
		o.Fail(root, "runs", "is beside `scores`; give `scores` of one run, or `runs` with a list of outcomes")
	case root.Has("runs"):
		take := o.labels()
		take["runs"] = func(n document.Node, key string) {
			o.List(n, key, maxRuns, o.once)
			if len(n.Items) == 0 && n.Type == document.List {
				o.Fail(n, key, "is empty")
			}
			if len(n.Items) > o.outcome.Runs() {
				o.outcome.Made = len(n.Items)
			}
		}
		o.Object(root, "", take, false)
	default:
		o.once(root, "")
	}
}

// labels are the keys of an outcome beside its scores.
func (o *outcomeReader) labels() document.Keys {
	return document.Keys{
		"configLabel": o.OptionalInto(&o.outcome.ConfigLabel, suite.MaxName),
		"stochastic":  o.oneSays(&o.outcome.Stochastic, true),
		"interleaved": o.oneSays(&o.outcome.Interleaved, false),
	}
}

// oneSays reads what is so of the outcome when one of its runs says it.
func (o *outcomeReader) oneSays(to **bool, decides bool) func(document.Node, string) {
	return func(n document.Node, key string) {
		if n.Type == document.Null {
			return
		}
		if truth := o.Truth(n, key); *to == nil || truth == decides {
			*to = &truth
		}
	}
}

// once reads one run of the suite.
func (o *outcomeReader) once(n document.Node, key string) {
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
	o.run, o.at = &run, key+"."
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
		"composite":  document.Into(&run.Composite, o.within),
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

func (o *outcomeReader) objective(n document.Node, key string) (objective Objective) {
	count := func(to *int) func(document.Node, string) {
		return func(n document.Node, key string) {
			const most = 1 << 53
			if value := o.number(n, key, "a whole number, 0 or more", func(v metric.Value) bool {
				return v.Sign() >= 0 && v.Rat().IsInt() && v.Cmp(metric.FromInt(most)) <= 0
			}); value != nil {
				*to = int(value.Rat().Num().Int64())
			}
		}
	}
	o.Object(n, key, document.Keys{"passed": count(&objective.Passed), "total": count(&objective.Total)}, false,
		"passed", "total")
	if objective.Passed > objective.Total && o.run.NonFinite == "" {
		o.Fail(n, key, "has %d passed of %d", objective.Passed, objective.Total)
	}
	return objective
}

// number reads one that must be what fits says; nil, which is noted, where it is not finite, as null is not.
func (o *outcomeReader) number(n document.Node, key, must string, fits func(metric.Value) bool) *metric.Value {
	var value metric.Value
	finite := false
	if n.Type != document.Null {
		value, finite = o.Number(n, key)
	}
	if !finite {
		o.run.NonFinite = cmp.Or(o.run.NonFinite, strings.TrimPrefix(key, o.at))
		return nil
	}
	if !fits(value) {
		o.Fail(n, key, "is %s; it must be %s", plain.Short(n.Text, document.MaxShown), must)
	}
	return &value
}

// within reads a number from 0 to 1.
func (o *outcomeReader) within(n document.Node, key string) *metric.Value {
	return o.number(n, key, "from 0 to 1", document.WithinOne)
}

// judge reads a judge's answer; null means no answer.
func (o *outcomeReader) judge(n document.Node, key string) *Judgement {
	if n.Type == document.Null {
		return nil
	}
	var judgement Judgement
	o.Object(n, key, document.Keys{
		"score0to1": func(n document.Node, key string) {
			judgement.Score = *cmp.Or(o.within(n, key), &metric.Value{})
		},
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
	take := document.Keys{}
	for i, place := range Places(&cost) {
		take[costKeys[i]] = func(n document.Node, key string) {
			if n.Type != document.Null {
				*place = o.number(n, key, "0 or more, and null when it is not known",
					func(v metric.Value) bool { return v.Sign() >= 0 })
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
