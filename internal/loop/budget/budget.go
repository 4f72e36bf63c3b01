// Package budget says what a program may still use of its budgets and, when
// one is used up, when it may go on. It is pure.
package budget

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/program"
)

// LongestWait is the longest that a service's rate limit may put an iteration
// off.
const LongestWait = 31 * 24 * time.Hour

// Waits reports whether an iteration that was put off until a time is to wait
// for it still. A time farther away than any service may ask for was written
// by a clock that was wrong, and is not waited for.
func Waits(until, now time.Time) bool {
	return now.Before(until) && until.Sub(now) <= LongestWait
}

// Left is what the next iteration may use; 0 is no bound.
type Left struct {
	Tokens int64
	USD    float64
	Time   time.Duration
}

// Standing is how a program stands with its budgets at one moment.
type Standing struct {
	// Over says what is used up, as "3 of 3 iterations used this day"; "" when
	// the program may go on.
	Over string
	// Until is when it may go on; zero when never by itself.
	Until time.Time
	// Left is for when it may.
	Left Left
	// Used says what was used of each budget.
	Used []Used
}

// Used is what was used of one budget.
type Used struct {
	// Text is for people, as "1.20 of 5.00 USD this week".
	Text string
	// Share is the part of the budget that is used: 0 is nothing, 1 all of it.
	Share float64
}

// Reason is why the program does not run now, for people; "" when it may.
func (s *Standing) Reason() string {
	if s.Over == "" {
		return ""
	}
	reason := fmt.Sprintf("budget: %s; it resumes at %s", s.Over, s.Until.Format(time.RFC3339))
	if s.Until.IsZero() {
		reason = fmt.Sprintf("budget: %s; raise the limit to go on", s.Over)
	}
	return reason
}

// Stand holds what the records say was used against every budget of the program.
// Of several that are used up the one that lasts longest counts.
func Stand(p *program.Program, summary *history.Summary, now time.Time) Standing {
	var s Standing
	for _, b := range p.Budgets {
		if b.Per == program.PerIteration {
			s.Left.Bound(b, history.Spent{})
			continue
		}
		from, until := span(now, b.Per)
		spent := summary.Spent(from)
		s.Left.Bound(b, spent)
		when, by := "this "+string(b.Per), "this "+string(b.Per)
		if b.Per == program.PerProgram {
			when, by = "in all", "by this program"
		}
		over, unknown := "", ""
		for _, l := range limits(b, spent) {
			if l.most == 0 {
				continue
			}
			least := ""
			if l.unknown > 0 {
				least = "at least "
			}
			s.Used = append(s.Used, Used{least + l.text + " " + when, l.used / l.most})
			if l.used >= l.most {
				over = cmp.Or(over, l.text)
			}
			if l.unknown > 0 && p.UnknownCost == "pause" {
				unknown = fmt.Sprintf("an unknown %s (%d iterations, unknown-cost: pause)", l.what, l.unknown)
			}
		}
		over = cmp.Or(over, unknown)
		if over != "" && (s.Over == "" || !s.Until.IsZero() && (until.IsZero() || !until.Before(s.Until))) {
			s.Over, s.Until = over+" used "+by, until
		}
	}
	return s
}

// limit is one limit of a budget beside what was used of it.
type limit struct {
	used, most float64 // most is 0 without a limit
	text       string
	unknown    int // of how many iterations it is not known
	what       string
}

func limits(b program.Budget, spent history.Spent) []limit {
	minutes := fmt.Sprintf("%.0f", spent.Minutes)
	if spent.Minutes > 0 && spent.Minutes < 1 {
		minutes = fmt.Sprintf("%.0f s", spent.Minutes*60)
	}
	return []limit{
		{
			used: float64(spent.Iterations), most: float64(b.Iterations),
			text: fmt.Sprintf("%d of %d iterations", spent.Iterations, b.Iterations),
		},
		{
			float64(spent.Tokens), float64(b.Tokens), fmt.Sprintf("%d of %d tokens", spent.Tokens, b.Tokens),
			spent.UnknownTokens, "number of tokens",
		},
		{spent.USD, b.USD, fmt.Sprintf("%.2f of %.2f USD", spent.USD, b.USD), spent.UnknownUSD, "amount of USD"},
		{used: spent.Minutes, most: b.Minutes, text: fmt.Sprintf("%s of %g minutes", minutes, b.Minutes)},
	}
}

// Bound lowers what is left to what one budget leaves of which spent was used.
func (l *Left) Bound(b program.Budget, spent history.Spent) {
	if left := b.Tokens - spent.Tokens; b.Tokens > 0 && (l.Tokens == 0 || left < l.Tokens) {
		l.Tokens = max(left, 1)
	}
	if left := b.USD - spent.USD; b.USD > 0 && (l.USD == 0 || left < l.USD) {
		l.USD = max(left, 0.0001)
	}
	const longest = float64(math.MaxInt64 / time.Minute) // more is no time.Duration
	left := time.Duration(min(b.Minutes-spent.Minutes, longest) * float64(time.Minute))
	if b.Minutes > 0 && (l.Time == 0 || left < l.Time) {
		l.Time = max(left, time.Second)
	}
}

// After is what is left once so much more is used. over says what is used up by
// then, "" for nothing; what is unbounded stays so.
func (l *Left) After(tokens int64, usd float64) (rest Left, over string) {
	rest = *l
	if l.USD > 0 {
		if rest.USD = l.USD - usd; rest.USD <= 0 {
			over = fmt.Sprintf("%.2f of the %.2f USD that were left", usd, l.USD)
		}
	}
	if l.Tokens > 0 {
		if rest.Tokens = l.Tokens - tokens; rest.Tokens <= 0 {
			over = fmt.Sprintf("%d of the %d tokens that were left", tokens, l.Tokens)
		}
	}
	return rest, over
}

// span is the time that a budget is for, in UTC: from its start until it begins
// anew, zero for never.
func span(now time.Time, per program.Span) (from, until time.Time) {
	const daily = 24 * time.Hour
	day := now.UTC().Truncate(daily)
	switch per {
	case program.PerIteration, program.PerProgram:
		return time.Time{}, time.Time{}
	case program.PerDay:
		return day, day.Add(daily)
	case program.PerWeek:
		monday := day.Truncate(7 * daily) // the zero time, from which it counts, is a Monday
		return monday, monday.Add(7 * daily)
	default:
		first := day.AddDate(0, 0, 1-day.Day())
		return first, first.AddDate(0, 1, 0)
	}
}
