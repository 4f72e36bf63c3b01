package suite

import "slices"

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
	o.outcome.NonFiniteAt = r.stray
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
