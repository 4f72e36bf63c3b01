package format

import (
	"slices"

	"github.com/org/autoloop/internal/document"
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
	has := func(name string) bool {
		return slices.ContainsFunc(root.Fields, func(f document.Field) bool { return f.Name == name })
	}
	switch {
	case has("runs") && has("scores"):
		o.Fail(root, "runs", "is beside `scores`; give `scores` of one run, or `runs` with a list of outcomes")
	case has("runs"):
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
