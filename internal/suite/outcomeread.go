package suite

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/score"
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
// are not finite. The problems are all there are; with any of them the outcome
// is empty.
func ParseOutcome(file string, data []byte) (Outcome, Problems) {
	r, root, ok := newReader(file, finiteWords(data), maxOutcome)
	o := &outcomeReader{reader: r, byID: map[string]int{}}
	if ok {
		o.read(root)
	}
	if len(r.problems) > 0 {
		return Outcome{}, r.problems
	}
	return o.outcome, nil
}

// outcomeReader reads one file.
type outcomeReader struct {
	*reader
	outcome Outcome
	byID    map[string]int // place in outcome.Scores
}

func (o *outcomeReader) read(root node) {
	has := func(name string) bool {
		return slices.ContainsFunc(root.fields, func(f field) bool { return f.name == name })
	}
	switch {
	case has("runs") && has("scores"):
		o.fail(root, "runs", "is beside `scores`; give `scores` of one run, or `runs` with a list of outcomes")
	case has("runs"):
		take := o.labels()
		take["runs"] = func(n node, key string) {
			o.list(n, key, maxRuns, o.run)
			if len(n.items) == 0 && n.kind == listKind {
				o.fail(n, key, "is empty")
			}
		}
		o.object(root, "", take, false)
	default:
		o.run(root, "")
	}
}

// labels are the keys of an outcome beside its scores.
func (o *outcomeReader) labels() map[string]func(node, string) {
	return map[string]func(node, string){
		"configLabel": func(n node, key string) { o.outcome.ConfigLabel = o.optional(n, key, maxName) },
		"stochastic": func(n node, key string) {
			if n.kind == nullKind {
				return
			}
			if truth := o.truth(n, key); o.outcome.Stochastic == nil || truth {
				o.outcome.Stochastic = &truth
			}
		},
	}
}

// run reads one run of the suite.
func (o *outcomeReader) run(n node, key string) {
	seen := map[string]bool{}
	take := o.labels()
	take["scores"] = func(n node, key string) {
		o.list(n, key, maxTasks, func(n node, key string) { o.score(n, key, seen) })
	}
	o.object(n, key, take, false, "scores")
}

// score reads one task of one run.
func (o *outcomeReader) score(n node, key string, seen map[string]bool) {
	var id string
	var weight *score.Value
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

// optional reads a text that may be empty or null.
func (o *outcomeReader) optional(n node, key string, most int) string {
	switch {
	case n.kind == nullKind || !o.is(n, key, textKind):
	case len(n.text) > most:
		o.fail(n, key, "has more than %d bytes", most)
	default:
		return n.text
	}
	return ""
}

// finiteWords replaces the NaN and Infinity that some writers print by a
// number out of range, so that they are told from text that is no JSON.
func finiteWords(data []byte) []byte {
	if !bytes.Contains(data, []byte("NaN")) && !bytes.Contains(data, []byte("Infinity")) {
		return data
	}
	var out bytes.Buffer
	quoted := false
	for i := 0; i < len(data); i++ {
		switch {
		case data[i] == '"':
			quoted = !quoted
		case quoted && data[i] == '\\' && i+1 < len(data):
			out.WriteByte(data[i])
			i++
		case !quoted:
			if word := wordAt(data[i:]); word != "" {
				fmt.Fprint(&out, "1e999")
				i += len(word) - 1
				continue
			}
		}
		out.WriteByte(data[i])
	}
	return out.Bytes()
}

// wordAt returns the word for a number that is not finite, if data begins
// with one.
func wordAt(data []byte) string {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(data, []byte(word)) {
			return word
		}
	}
	return ""
}
