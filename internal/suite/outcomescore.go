package suite

import "github.com/org/autoloop/internal/metric"

// score reads one task of one run.
func (o *outcomeReader) score(n node, key string, seen map[string]bool) {
	var id string
	var weight *metric.Value
	var run Run
	o.object(n, key, map[string]func(node, string){
		"taskId": func(n node, key string) {
			if id = o.text(n, key, maxName); id != "" && seen[id] {
				o.fail(n, key, "%s is there twice; every task has one entry in a run", quote(id))
			}
			seen[id] = true
		},
		"judgeWeight": func(n node, key string) {
			if n.kind != nullKind {
				weight = o.part(n, key)
			}
		},
		"objective":  func(n node, key string) { run.Objective = o.objective(n, key) },
		"judge":      func(n node, key string) { run.Judge = o.judge(n, key) },
		"cost":       func(n node, key string) { run.Cost = o.cost(n, key) },
		"composite":  func(n node, key string) { run.Composite = o.within(n, key) },
		"checks":     func(n node, key string) { run.Checks = o.checks(n, key) },
		"failure":    func(n node, key string) { run.Failure = o.optional(n, key, maxRationale) },
		"transcript": func(n node, key string) { run.Transcript = o.optional(n, key, maxPath) },
		"diff":       func(n node, key string) { run.Diff = o.optional(n, key, maxPath) },
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

func (o *outcomeReader) objective(n node, key string) Objective {
	objective := Objective{Passed: NonFinite(), Total: NonFinite()}
	o.object(n, key, map[string]func(node, string){
		"passed": func(n node, key string) { objective.Passed = o.count(n, key) },
		"total":  func(n node, key string) { objective.Total = o.count(n, key) },
	}, false, "passed", "total")
	passed, ok := objective.Passed.Value()
	total, finite := objective.Total.Value()
	if ok && finite && passed.Cmp(total) > 0 {
		o.fail(n, key, "has %s passed of %s", passed, total)
	}
	return objective
}

// count reads a whole number of at least 0; null is not finite.
func (o *outcomeReader) count(n node, key string) Number {
	number := o.finiteOrNot(n, key)
	if value, ok := number.Value(); ok && (value.Sign() < 0 || !isWhole(value)) {
		o.fail(n, key, "is %s; it must be a whole number, 0 or more", visible(n.text, maxShown))
	}
	return number
}

// finiteOrNot reads a number; null is not finite.
func (o *outcomeReader) finiteOrNot(n node, key string) Number {
	if n.kind == nullKind {
		return NonFinite()
	}
	return o.number(n, key)
}

// within reads a number from 0 to 1; null is not finite.
func (o *outcomeReader) within(n node, key string) *Number {
	number := o.finiteOrNot(n, key)
	if value, ok := number.Value(); ok && !withinOne(value) {
		o.fail(n, key, "is %s; it must be from 0 to 1", visible(n.text, maxShown))
	}
	return &number
}

// judge reads a judge's answer; null is none.
func (o *outcomeReader) judge(n node, key string) *Judgement {
	if n.kind == nullKind {
		return nil
	}
	judgement := Judgement{Score: NonFinite()}
	o.object(n, key, map[string]func(node, string){
		"score0to1": func(n node, key string) { judgement.Score = *o.within(n, key) },
		"rationale": func(n node, key string) { judgement.Rationale = o.optional(n, key, maxRationale) },
		"model":     func(n node, key string) { judgement.Model = o.optional(n, key, maxName) },
	}, false, "score0to1")
	return &judgement
}

// cost reads what a run used; null, as a whole or of a part, is unknown.
func (o *outcomeReader) cost(n node, key string) Cost {
	var cost Cost
	if n.kind == nullKind {
		return cost
	}
	take := map[string]func(node, string){}
	for name, to := range map[string]**Number{
		"tokens": &cost.Tokens, "toolCalls": &cost.ToolCalls, "steps": &cost.Steps, "wallClockMs": &cost.WallClockMs, "costUsd": &cost.USD,
	} {
		take[name] = func(n node, key string) {
			if n.kind == nullKind {
				return
			}
			number := o.number(n, key)
			if value, ok := number.Value(); ok && value.Sign() < 0 {
				o.fail(n, key, "is %s; it must be 0 or more, and null when it is not known", visible(n.text, maxShown))
			}
			*to = &number
		}
	}
	o.object(n, key, take, false)
	return cost
}

func (o *outcomeReader) checks(n node, key string) []CheckResult {
	var list []CheckResult
	if n.kind == nullKind {
		return nil
	}
	o.list(n, key, maxChecks, func(n node, key string) {
		var check CheckResult
		o.object(n, key, map[string]func(node, string){
			"kind":   func(n node, key string) { check.Kind = CheckKind(o.optional(n, key, maxName)) },
			"name":   func(n node, key string) { check.Name = o.optional(n, key, maxCommand) },
			"passed": func(n node, key string) { check.Passed = o.truth(n, key) },
			"detail": func(n node, key string) { check.Detail = o.optional(n, key, maxRationale) },
		}, false, "passed")
		list = append(list, check)
	})
	return list
}
