package format

import (
	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// score reads one task of one run.
func (o *outcomeReader) score(n document.Node, key string, seen map[string]bool) {
	var id string
	var weight *metric.Value
	var run Run
	o.Object(n, key, map[string]func(document.Node, string){
		"taskId": func(n document.Node, key string) {
			if id = o.Text(n, key, maxName); id != "" && seen[id] {
				o.Fail(n, key, "%s is there twice; every task has one entry in a run", document.Quote(id))
			}
			seen[id] = true
		},
		"judgeWeight": func(n document.Node, key string) {
			if n.Type != document.Null {
				weight = o.Fraction(n, key)
			}
		},
		"objective":  func(n document.Node, key string) { run.Objective = o.objective(n, key) },
		"judge":      func(n document.Node, key string) { run.Judge = o.judge(n, key) },
		"cost":       func(n document.Node, key string) { run.Cost = o.cost(n, key) },
		"composite":  func(n document.Node, key string) { run.Composite = o.within(n, key) },
		"checks":     func(n document.Node, key string) { run.Checks = o.checks(n, key) },
		"failure":    func(n document.Node, key string) { run.Failure = o.optional(n, key, maxRationale) },
		"transcript": func(n document.Node, key string) { run.Transcript = o.optional(n, key, document.MaxPath) },
		"diff":       func(n document.Node, key string) { run.Diff = o.optional(n, key, document.MaxPath) },
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
	o.Object(n, key, map[string]func(document.Node, string){
		"passed": func(n document.Node, key string) { objective.Passed = o.count(n, key) },
		"total":  func(n document.Node, key string) { objective.Total = o.count(n, key) },
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
	o.Object(n, key, map[string]func(document.Node, string){
		"score0to1": func(n document.Node, key string) { judgement.Score = *o.within(n, key) },
		"rationale": func(n document.Node, key string) { judgement.Rationale = o.optional(n, key, maxRationale) },
		"model":     func(n document.Node, key string) { judgement.Model = o.optional(n, key, maxName) },
	}, false, "score0to1")
	return &judgement
}

// cost reads what a run used; null, as a whole or of a part, is unknown.
func (o *outcomeReader) cost(n document.Node, key string) Cost {
	var cost Cost
	if n.Type == document.Null {
		return cost
	}
	take := map[string]func(document.Node, string){}
	for name, to := range map[string]**metric.Number{
		"tokens": &cost.Tokens, "toolCalls": &cost.ToolCalls, "steps": &cost.Steps, "wallClockMs": &cost.WallClockMs, "costUsd": &cost.USD,
	} {
		take[name] = func(n document.Node, key string) {
			if n.Type == document.Null {
				return
			}
			number := o.Number(n, key)
			if value, ok := number.Value(); ok && value.Sign() < 0 {
				o.Fail(n, key, "is %s; it must be 0 or more, and null when it is not known", plain.Short(n.Text, document.MaxShown))
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
	o.List(n, key, maxChecks, func(n document.Node, key string) {
		var check CheckResult
		o.Object(n, key, map[string]func(document.Node, string){
			"kind":   func(n document.Node, key string) { check.Kind = CheckKind(o.optional(n, key, maxName)) },
			"name":   func(n document.Node, key string) { check.Name = o.optional(n, key, maxCommand) },
			"passed": func(n document.Node, key string) { check.Passed = o.Truth(n, key) },
			"detail": func(n document.Node, key string) { check.Detail = o.optional(n, key, maxRationale) },
		}, false, "passed")
		list = append(list, check)
	})
	return list
}
