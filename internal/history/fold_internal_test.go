package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
)

// TestTheLargestGainIsKept: a new gain is compared with the largest of all, and only the
// latest others are kept, however often they are folded.
func TestTheLargestGainIsKept(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		chance := rand.New(rand.NewPCG(seed, 2))
		var all, folded []metric.Value
		for range 5 + chance.IntN(100) {
			gain := metric.FromInt(chance.Int64N(1000))
			all, folded = append(all, gain), append(folded, gain)
			if chance.IntN(3) == 0 {
				folded = foldGains(folded)
				require.LessOrEqual(t, len(folded), keptGains+1)
				assert.Equal(t, folded, foldGains(folded))
			}
			require.Equal(t, slices.MaxFunc(all, metric.Value.Cmp), slices.MaxFunc(folded, metric.Value.Cmp))
			latest := min(keptGains, len(all))
			require.Equal(t, all[len(all)-latest:], folded[len(folded)-latest:])
		}
	}
	assert.Empty(t, foldGains(nil))
	few := slices.Repeat([]metric.Value{metric.FromInt(3)}, keptGains+1)
	assert.Len(t, foldGains(few), keptGains+1)
	assert.Len(t, foldGains(append(few, metric.FromInt(1))), keptGains+1)
}

// TestWhichRunsStayOneByOne are the latest, of an iteration that is not long ago.
func TestWhichRunsStayOneByOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		iterations []int
		before     int // those of earlier iterations are old
		from       int
	}{
		"none":                     {nil, 5, 0},
		"few":                      {[]int{5, 6, 7}, 5, 0},
		"few, of long ago":         {[]int{1, 2, 7}, 5, 2},
		"all of long ago":          {[]int{1, 2, 3}, 5, 3},
		"as many as are kept":      {slices.Repeat([]int{9}, keptAttempts), 5, 0},
		"one more":                 {slices.Repeat([]int{9}, keptAttempts+1), 5, 1},
		"many, some of long ago":   {append(slices.Repeat([]int{1}, 30), slices.Repeat([]int{9}, 10)...), 5, 30},
		"many, and few long ago":   {append([]int{1, 1}, slices.Repeat([]int{9}, 40)...), 5, 10},
		"one of long ago after it": {[]int{9, 1, 9}, 5, 0},
	} {
		assert.Equal(t, c.from, keptFrom(len(c.iterations), func(i int) bool { return c.iterations[i] < c.before }), name)
	}
}

// TestDaysAreAddedUp: what was used before the days that are told apart is one sum, and no
// day gets lost.
func TestDaysAreAddedUp(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 3, 31, 22, 0, 0, 0, time.FixedZone("west", -5*3600)) // it is April already in UTC
	e := Earlier{Until: until, Days: map[string]Spent{}}
	sum := 0
	for back := range 200 {
		day := until.UTC().AddDate(0, 0, -back).Format(dayForm)
		e.Days[day] = Spent{Iterations: back + 1, Tokens: 2, USD: 0.25, Minutes: 3, MeasuringTokens: 4, MeasuringUSD: 0.5, UnknownTokens: 5, UnknownUSD: 6}
		sum += back + 1
	}
	e.Days[""] = Spent{Iterations: 1000}
	e.foldDays()
	assert.Len(t, e.Days, keptDays+2, "the last day, those before it, and all others together")
	assert.Equal(t, "2026-01-29", e.firstDay())
	assert.Equal(t, Spent{Iterations: keptDays + 1, Tokens: 2, USD: 0.25, Minutes: 3, MeasuringTokens: 4, MeasuringUSD: 0.5, UnknownTokens: 5, UnknownUSD: 6}, e.Days["2026-01-29"])
	old := 200 - keptDays - 1
	assert.Equal(t, e.Days[""].Tokens, int64(2*old))
	assert.InDelta(t, float64(old)/4, e.Days[""].USD, 1e-9)
	assert.Equal(t, 6*old, e.Days[""].UnknownUSD)
	total := -1000
	for _, spent := range e.Days {
		total += spent.Iterations
	}
	assert.Equal(t, sum, total)
	again := Earlier{Until: e.Until, Days: map[string]Spent{}}
	for day, spent := range e.Days {
		again.Days[day] = spent
	}
	again.foldDays()
	assert.Equal(t, e.Days, again.Days)
}

// TestWhatIsKnownOfLongAgo: of what was added up only whole days are known, and only those
// that are told apart.
func TestWhatIsKnownOfLongAgo(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		moment, err := time.Parse(time.RFC3339, text)
		require.NoError(t, err)
		return moment
	}
	b := Summary{Earlier: Earlier{Until: at("2026-04-10T15:00:00Z"), Days: map[string]Spent{
		"": {Iterations: 100}, "2026-02-07": {Iterations: 10}, "2026-04-09": {Iterations: 3}, "2026-04-10": {Iterations: 1},
	}}}
	for from, c := range map[string]struct {
		knows      bool
		iterations int
	}{
		"2026-04-10T15:00:01Z":      {true, 1}, // the whole day counts: the caller asks only where it is known
		"2026-04-10T15:00:00Z":      {false, 1},
		"2026-04-10T00:00:00Z":      {true, 1},
		"2026-04-10T02:00:00+02:00": {true, 1}, // it is midnight in UTC
		"2026-04-10T00:00:00+02:00": {false, 4},
		"2026-04-09T00:00:00Z":      {true, 4},
		"2026-04-09T00:00:01Z":      {false, 4},
		"2026-02-07T00:00:00Z":      {true, 14},
		"2026-02-06T00:00:00Z":      {false, 14},
		"2026-04-11T00:00:00Z":      {true, 0},
	} {
		assert.Equal(t, c.knows, b.Knows(at(from)), from)
		assert.Equal(t, c.iterations, b.Spent(at(from)).Iterations, from)
	}
	assert.True(t, b.Knows(time.Time{}))
	assert.Equal(t, 114, b.Spent(time.Time{}).Iterations)
	fresh := Summary{}
	assert.True(t, fresh.Knows(at("2026-04-10T15:00:00Z")), "nothing was added up so far")
}

// TestWhatIsFoldedIsKnownByDays folds a long life: from every midnight on it used what its
// events say, as long as days are told apart.
func TestWhatIsFoldedIsKnownByDays(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 23, 30, 0, 0, time.UTC)
	var whole, folded Summary
	tokens := int64(5)
	for n := 1; n <= 150; n++ {
		at := start.Add(time.Duration(n) * 16 * time.Hour)
		later := at.Add(time.Hour)
		run := fmt.Sprint("run ", n)
		events := []Event{
			&Started{Head: Head{Run: run + " lost", Time: at.Add(-2 * time.Hour), Iteration: n}, Reserved: &Reserved{Tokens: 3}},
			&Started{Head: Head{Run: run + " off", Time: at.Add(-time.Hour), Iteration: n}},
			&Finished{Head: Head{Run: run + " off", Time: at, Iteration: n}, NotBefore: &later, Work: Work{Usage: &metric.Usage{InputTokens: &tokens}}},
			&Started{Head: Head{Run: run, Time: at, Iteration: n}},
			&Measured{Head: Head{Run: run, Time: at, Iteration: n}, Role: Incumbent, Metric: numberOf(1), Evaluation: &Expense{Tokens: &tokens, UnknownUSD: 1}},
			&Decided{Head: Head{Run: run, Time: later, Iteration: n}, Outcome: Rejected, Work: Work{Usage: &metric.Usage{OutputTokens: &tokens}, Durations: map[string]float64{"propose": 1}}},
			&Finished{Head: Head{Run: run, Time: later, Iteration: n}, Outcome: Rejected},
		}
		for _, e := range events {
			whole.Add(e)
			folded.Add(e)
		}
		if n%13 == 0 {
			folded.Fold()
		}
	}
	folded.Fold()
	assert.Len(t, folded.Attempts, keptAttempts)
	assert.Equal(t, 150, folded.Decided())
	assert.Equal(t, whole.Spent(time.Time{}), folded.Spent(time.Time{}))
	known := 0
	for back := range 100 {
		midnight := folded.Attempts[len(folded.Attempts)-1].Time.Truncate(24*time.Hour).AddDate(0, 0, -back)
		if !folded.Knows(midnight) {
			continue
		}
		known++
		assert.Equal(t, whole.Spent(midnight).Tokens, folded.Spent(midnight).Tokens, midnight)
		assert.Equal(t, whole.Spent(midnight).Iterations, folded.Spent(midnight).Iterations, midnight)
		assert.InDelta(t, whole.Spent(midnight).Minutes, folded.Spent(midnight).Minutes, 1e-6, midnight)
	}
	assert.Greater(t, known, keptDays)
	assert.Less(t, len(folded.baselines), 2*keptAttempts)
}

// TestUnknownCostsOfOneIterationCountOnce, in the last of the days in which somebody did
// not say.
func TestUnknownCostsOfOneIterationCountOnce(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 5, n, 12, 0, 0, 0, time.UTC) }
	var b Summary
	b.Add(&Measured{Head: Head{Time: day(1), Iteration: 1}, Role: Baseline, Metric: numberOf(5), Evaluation: &Expense{UnknownUSD: 2, UnknownTokens: 1}})
	b.Add(&Measured{Head: Head{Time: day(2), Iteration: 1}, Role: Incumbent, Metric: numberOf(5), Evaluation: &Expense{UnknownUSD: 1}})
	b.Add(&Decided{Head: Head{Time: day(3), Iteration: 1}, Outcome: Rejected, Work: Work{Durations: map[string]float64{"propose": 60}}})
	for n := 2; n <= 40; n++ {
		b.Add(&Decided{Head: Head{Time: day(9), Iteration: n}, Outcome: Rejected})
	}
	before := b.Spent(time.Time{})
	assert.Equal(t, []int{1, 1}, []int{before.UnknownTokens, before.UnknownUSD})
	b.Fold()
	assert.Equal(t, before, b.Spent(time.Time{}))
	assert.Equal(t, Spent{Iterations: 1, Minutes: 1, UnknownTokens: 1, UnknownUSD: 1}, b.Earlier.Days["2026-05-03"])
	assert.Equal(t, Spent{}, b.Earlier.Days["2026-05-01"])
}

// TestWithoutAPart is what Spent adds, taken away again.
func TestWithoutAPart(t *testing.T) {
	t.Parallel()
	part := Spent{1, 2, 3, 4, 5, 6, 7, 8}
	sum := Spent{10, 20, 30, 40, 50, 60, 70, 80}
	more := sum
	more.plus(part)
	assert.Equal(t, Spent{11, 22, 33, 44, 55, 66, 77, 88}, more)
	assert.Equal(t, sum, Without(more, part))
	assert.Equal(t, Spent{}, Without(part, part))
}

// TestAcceptedOnesStayLonger: beside the latest attempts some of the accepted ones before
// them are at hand, and each of the others is counted once.
func TestAcceptedOnesStayLonger(t *testing.T) {
	t.Parallel()
	var b Summary
	const all = 200
	for n := 1; n <= all; n++ {
		outcome := Rejected
		if n%10 == 0 {
			outcome = Accepted
		}
		b.Add(&Decided{Head: Head{Iteration: n}, Outcome: outcome, Best: numberOf(1)})
		if n%17 == 0 {
			b.Fold()
		}
	}
	b.Fold()
	var kept []int
	for _, a := range b.Attempts {
		kept = append(kept, a.Iteration)
	}
	want := []int{110, 120, 130, 140, 150, 160}
	for n := all - keptAttempts + 1; n <= all; n++ {
		want = append(want, n)
	}
	assert.Equal(t, want, kept)
	assert.Equal(t, all, b.Decided())
	assert.Equal(t, []int{20, 180}, []int{b.Count(Accepted), b.Count(Rejected)})
	assert.Equal(t, map[Outcome]int{Accepted: 20 - keptAccepted - 4, Rejected: 180 - keptAttempts + 4}, b.Earlier.Outcomes)
	assert.Len(t, b.Statuses(), 10)
}

// TestOutputOfACandidateGoesWhenNothingWaits: what a candidate printed is the incumbent's
// once CI let it through, and is needed until then.
func TestOutputOfACandidateGoesWhenNothingWaits(t *testing.T) {
	t.Parallel()
	for outcome, kept := range map[Outcome]bool{PendingCI: true, Accepted: false, Rejected: false} {
		var b Summary
		b.Add(&Measured{Head: Head{Iteration: 1}, Role: Candidate, Metric: numberOf(4), Output: "four"})
		b.Add(&Decided{Head: Head{Iteration: 1}, Outcome: outcome, Best: numberOf(4), Commit: "c"})
		b.Fold()
		assert.Equal(t, kept, b.candidateOutput == "four", outcome)
		b.Add(&Decided{Head: Head{Iteration: 1}, Outcome: Accepted, Best: numberOf(4), Commit: "c"})
		assert.Equal(t, kept, b.Output == "four", outcome)
	}
}
