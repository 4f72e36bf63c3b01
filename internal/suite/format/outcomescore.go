package format

import (
	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite"
)

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

func (o *outcomeReader) objective(n document.Node, key string) Objective {
	objective := Objective{Passed: metric.NonFinite(), Total: metric.NonFinite()}
	o.Object(n, key, document.Keys{
		"passed": document.Into(&objective.Passed, o.count),
		"total":  document.Into(&objective.Total, o.count),
	}, false, "passed", "total")
	passed, ok := objective.Passed.Value()
	total, finite := objective.Total.Value()
	if ok && finite && passed.Cmp(total) > 0 {
		o.Fail(n, key, "has %s passed of %s", passed, total)
	}
	return objective
}

// count reads a whole number of at least 0; null is not finite.
func (o *outcomeReader) count(n document.Node, key string) metric.Number {
	number := o.finiteOrNot(n, key)
	if value, ok := number.Value(); ok && (value.Sign() < 0 || !metric.IsWhole(value)) {
		o.Fail(n, key, "is %s; it must be a whole number, 0 or more", plain.Short(n.Text, document.MaxShown))
	}
	return number
}

// finiteOrNot reads a number; null is not finite.
func (o *outcomeReader) finiteOrNot(n document.Node, key string) metric.Number {
	if n.Type == document.Null {
		return metric.NonFinite()
	}
	return o.Number(n, key)
}

// within reads a number from 0 to 1; null is not finite.
func (o *outcomeReader) within(n document.Node, key string) *metric.Number {
	number := o.finiteOrNot(n, key)
	if value, ok := number.Value(); ok && !document.WithinOne(value) {
		o.Fail(n, key, "is %s; it must be from 0 to 1", plain.Short(n.Text, document.MaxShown))
	}
	return &number
}

// judge reads a judge's answer; null means no answer.
func (o *outcomeReader) judge(n document.Node, key string) *Judgement {
	if n.Type == document.Null {
		return nil
	}
	judgement := Judgement{Score: metric.NonFinite()}
	o.Object(n, key, document.Keys{
		"score0to1": func(n document.Node, key string) { judgement.Score = *o.within(n, key) },
		"rationale": o.OptionalInto(&judgement.Rationale, maxRationale),
		"model":     o.OptionalInto(&judgement.Model, suite.MaxName),
	}, false, "score0to1")
	return &judgement
}

// cost reads what a run used; null, as a whole or of a part, is unknown.
func (o *outcomeReader) cost(n document.Node, key string) Cost {
	var cost Cost
	if n.Type == document.Null {
		return cost
	}
	take := document.Keys{}
	for name, to := range map[string]**metric.Number{
		"tokens": &cost.Tokens, "toolCalls": &cost.ToolCalls, "steps": &cost.Steps, "wallClockMs": &cost.WallClockMs,
		"costUsd": &cost.USD,
	} {
		take[name] = func(n document.Node, key string) {
			if n.Type == document.Null {
				return
			}
			number := o.Number(n, key)
			if value, ok := number.Value(); ok && value.Sign() < 0 {
				o.Fail(n, key, "is %s; it must be 0 or more, and null when it is not known",
					plain.Short(n.Text, document.MaxShown))
			}
			*to = &number
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
