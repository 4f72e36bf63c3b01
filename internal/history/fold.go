package history

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/org/autoloop/internal/metric"
)

const (
	// keptAttempts is how many of the latest attempts a checkpoint has one by one,
	// keptAccepted how many of the accepted ones before those.
	keptAttempts = 32
	keptAccepted = 6
	// keptGains is how many of the latest gains a checkpoint has, beside the largest
	// of the others.
	keptGains = 15
)

// Earlier is what became of attempts that a Summary does not hold one by one any
// more.
type Earlier struct {
	// Outcomes counts them; what is still in Attempts does not count.
	Outcomes map[Outcome]int
	// Days has what they used, by the day in UTC; what was used before those days is
	// under "". Until is the time of the last that counts there.
	Days  map[string]Spent
	Until time.Time
	// Errors and Dropped are how many of them were that at the end, without a break
	// and since the program was resumed.
	Errors  int `json:",omitempty"`
	Dropped int `json:",omitempty"`
	// Focus is which failing tests they worked on; nil of none.
	Focus *Focused `json:",omitempty"`
}

// dayForm names a day.
const dayForm = "2006-01-02"

// keptDays is how many days are told apart: more than the month of any budget.
const keptDays = 62

// Decided is how many iterations were decided.
func (b *Summary) Decided() int {
	count := len(b.Attempts)
	for _, n := range b.Earlier.Outcomes {
		count += n
	}
	return count
}

// Knows reports whether Spent can tell what was used since a time exactly: of what
// is long ago only whole days are known.
func (b *Summary) Knows(from time.Time) bool {
	midnight := from.Equal(from.UTC().Truncate(24 * time.Hour))
	return from.After(b.Earlier.Until) || from.IsZero() || midnight && from.UTC().Format(dayForm) >= b.Earlier.firstDay()
}

// firstDay is the first day that is told apart.
func (e *Earlier) firstDay() string { return e.Until.UTC().AddDate(0, 0, -keptDays).Format(dayForm) }

// earlier adds what is known by days only.
func (s *Spent) earlier(e *Earlier, from time.Time) {
	day := from.UTC().Format(dayForm)
	for _, name := range slices.Sorted(maps.Keys(e.Days)) {
		if from.IsZero() || name >= day {
			s.plus(e.Days[name])
		}
	}
}

func (s *Spent) plus(more Spent) {
	s.Iterations += more.Iterations
	s.Tokens += more.Tokens
	s.USD = bounded(s.USD + more.USD)
	s.Minutes = bounded(s.Minutes + more.Minutes)
	s.MeasuringTokens += more.MeasuringTokens
	s.MeasuringUSD = bounded(s.MeasuringUSD + more.MeasuringUSD)
	s.UnknownTokens += more.UnknownTokens
	s.UnknownUSD += more.UnknownUSD
}

// Without is what is left of s without a part of it.
func Without(s, part Spent) Spent {
	s.Iterations -= part.Iterations
	s.Tokens -= part.Tokens
	s.USD -= part.USD
	s.Minutes -= part.Minutes
	s.MeasuringTokens -= part.MeasuringTokens
	s.MeasuringUSD -= part.MeasuringUSD
	s.UnknownTokens -= part.UnknownTokens
	s.UnknownUSD -= part.UnknownUSD
	return s
}

// Fold bounds a summary at the end of a segment, where no run is open: what only those
// need who read the whole ledger goes, and what was long ago is added up. Folding the same
// events twice, with more in between, is folding them once.
func (b *Summary) Fold() {
	b.Proposals, b.Tried = nil, nil
	if last := len(b.Attempts) - 1; last < 0 || b.Attempts[last].Outcome != PendingCI {
		b.candidateOutput = "" // no iteration is under way
	}
	b.Gains = foldGains(b.Gains)
	b.foldOutcomes()
	b.foldUse()
	if len(b.Attempts) <= keptAttempts {
		return
	}
	old, latest := b.Attempts[:len(b.Attempts)-keptAttempts], b.Attempts[len(b.Attempts)-keptAttempts:]
	var accepted []Attempt
	for i := range old {
		if old[i].Outcome == Accepted {
			accepted = append(accepted, old[i])
		}
	}
	accepted = accepted[max(len(accepted)-keptAccepted, 0):]
	for i := range old {
		if slices.ContainsFunc(accepted, func(a Attempt) bool { return a.Iteration == old[i].Iteration }) {
			continue
		}
		if b.Earlier.Outcomes == nil {
			b.Earlier.Outcomes = map[Outcome]int{}
		}
		b.Earlier.Outcomes[old[i].Outcome]++
	}
	b.Attempts = append(accepted, latest...)
}

// foldUse adds to the days what was used for all but the latest attempts and for
// iterations before those, and for all but the latest runs that were put off or never
// came back, of which one iteration may have any number.
func (b *Summary) foldUse() {
	before, first := math.MinInt, max(len(b.Attempts)-keptAttempts, 0)
	if first > 0 {
		before = b.Attempts[first].Iteration
	}
	putOff := keptFrom(len(b.PutOff), func(i int) bool { return b.PutOff[i].Iteration < before })
	abandoned := keptFrom(len(b.Abandoned), func(i int) bool { return b.Abandoned[i].Iteration < before })
	days := map[string]Spent{}
	tokens, usd := map[int]string{}, map[int]string{} // the day in which nobody last said
	add := func(iteration int, at time.Time, count func(*Spent, *unknowns)) {
		var s Spent
		var unknown unknowns
		count(&s, &unknown)
		day := at.UTC().Format(dayForm)
		sum := days[day]
		sum.plus(s)
		days[day] = sum
		if unknown.tokens[iteration] {
			tokens[iteration] = max(tokens[iteration], day)
		}
		if unknown.usd[iteration] {
			usd[iteration] = max(usd[iteration], day)
		}
		if at.After(b.Earlier.Until) {
			b.Earlier.Until = at
		}
	}
	for i := range b.Attempts[:first] {
		if a := &b.Attempts[i]; !a.folded {
			add(a.Iteration, a.Time, func(s *Spent, n *unknowns) { s.Iterations++; s.add(a); n.attempt(a) })
			b.Earlier.Focus = b.Earlier.Focus.after(a)
			a.folded = true
		}
	}
	for i := range b.PutOff[:putOff] {
		a := &b.PutOff[i]
		add(a.Iteration, a.Time, func(s *Spent, _ *unknowns) { s.add(a) })
	}
	for i := range b.Abandoned[:abandoned] {
		a := &b.Abandoned[i]
		add(a.Iteration, a.Time, func(s *Spent, _ *unknowns) { s.abandon(a) })
	}
	for _, one := range b.baselines {
		if one.Iteration < before {
			add(one.Iteration, one.Time, func(s *Spent, n *unknowns) { s.expend(one.Expense); n.expense(one.Iteration, one.Expense) })
		}
	}
	b.PutOff, b.Abandoned = rest(b.PutOff, putOff), rest(b.Abandoned, abandoned)
	b.baselines = without(b.baselines, func(e expended) bool { return e.Iteration < before })
	for _, day := range tokens {
		sum := days[day]
		sum.UnknownTokens++
		days[day] = sum
	}
	for _, day := range usd {
		sum := days[day]
		sum.UnknownUSD++
		days[day] = sum
	}
	for day, more := range days {
		if b.Earlier.Days == nil {
			b.Earlier.Days = map[string]Spent{}
		}
		sum := b.Earlier.Days[day]
		sum.plus(more)
		b.Earlier.Days[day] = sum
	}
	b.Earlier.foldDays()
}

// foldDays adds up the days that need not be told apart.
func (e *Earlier) foldDays() {
	first := e.firstDay()
	for _, day := range slices.Sorted(maps.Keys(e.Days)) {
		if day != "" && day < first {
			sum := e.Days[""]
			sum.plus(e.Days[day])
			e.Days[""] = sum
			delete(e.Days, day)
		}
	}
}

// keptFrom is the place of the first of n, in order, that is neither old nor before the
// latest that are kept.
func keptFrom(n int, old func(int) bool) int {
	from := max(n-keptAttempts, 0)
	for from < n && old(from) {
		from++
	}
	return from
}

// rest is a list of its own of what is left from a place on; nil when nothing is.
func rest[E any](list []E, from int) []E { return append([]E(nil), list[from:]...) }

// without is a list of its own without some; nil when nothing is left.
func without[E any](list []E, drop func(E) bool) []E {
	var left []E
	for _, e := range list {
		if !drop(e) {
			left = append(left, e)
		}
	}
	return left
}

// foldGains keeps the latest gains and the largest of the others, which is all that a
// new one is compared with.
func foldGains(gains []metric.Value) []metric.Value {
	if len(gains) <= keptGains+1 {
		return gains
	}
	old, latest := gains[:len(gains)-keptGains], gains[len(gains)-keptGains:]
	largest := slices.MaxFunc(old, metric.Value.Cmp)
	return append([]metric.Value{largest}, latest...)
}

// foldOutcomes keeps the latest outcomes, and counts those before them that go on without
// a break. What came before the last accepted iteration but one does not.
func (b *Summary) foldOutcomes() {
	accepted := 0
	for i, outcome := range slices.Backward(b.SinceResumed) {
		if outcome == Accepted {
			accepted++
		}
		if accepted == 2 {
			b.SinceResumed, b.Earlier.Errors, b.Earlier.Dropped = b.SinceResumed[i:], 0, 0
			break
		}
	}
	cut := max(len(b.SinceResumed)-keptAttempts, 0)
	for _, outcome := range b.SinceResumed[:cut] {
		b.Earlier.Errors = oneMore(b.Earlier.Errors, outcome == Error)
		b.Earlier.Dropped = oneMore(b.Earlier.Dropped, outcome.Dropped())
	}
	b.SinceResumed = slices.Clone(b.SinceResumed[cut:])
}

// oneMore counts on, or begins anew.
func oneMore(count int, goesOn bool) int {
	if !goesOn {
		return 0
	}
	return count + 1
}
