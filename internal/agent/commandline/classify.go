package commandline

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/lazyregexp"
)

// maxWords bounds what is looked at of the words of a problem, in bytes.
const maxWords = 1 << 14

// longestWait bounds how far away an agent may say that a limit ends.
const longestWait = 31 * 24 * time.Hour

// The HTTP statuses that say what kind of problem it is.
const (
	unauthorized        = 401
	paymentRequired     = 402
	forbidden           = 403
	tooManyRequests     = 429
	internalServerError = 500
)

// NewProblem sorts what an agent said by the HTTP status, 0 when it named none,
// and by the words. The time to come back, when it is in them, is taken along.
func NewProblem(status int, words string) *Problem {
	p := &Problem{
		Kind:    kindOf(status, words),
		Message: words[:min(len(words), maxWords)], // in one line once what is secret is masked
	}
	p.After = waitIn(words)
	if p.Kind == Budget && p.After > 0 {
		p.Kind = RateLimit // A quota that comes back by itself.
	}
	return p
}

// marks are words by which a kind is known, the more special kind first.
var marks = []struct {
	kind  FailureKind
	words []string
}{
	{Budget, []string{
		"insufficient_quota", "quota exceeded", "current quota", "credit balance", "billing",
		"maximum budget", "payment required", "out of credits",
	}},
	{RateLimit, []string{
		"rate limit", "rate_limit", "ratelimit", "too many requests", "resource_exhausted",
		"usage limit", "hit your limit", "status 429", "status: 429", "(429)", "http 429",
	}},
	{Authentication, []string{
		"unauthorized", "unauthenticated", "authentication", "invalid api key", "incorrect api key",
		"api key not valid", "invalid_api_key", "not logged in",
		"please log in", "run /login", "login required", "oauth token", "status 401", "status: 401", "(401)",
		"http 401", "permission_denied", "auth method",
	}},
}

func kindOf(status int, words string) FailureKind {
	kind := kindIn(strings.ToLower(words))
	switch {
	case status == paymentRequired, status == tooManyRequests && kind == Budget:
		return Budget
	case status == tooManyRequests:
		return RateLimit
	case status == unauthorized, status == forbidden && kind != Budget:
		return Authentication
	case status >= internalServerError:
		return Crashed
	default:
		return kind
	}
}

func kindIn(words string) FailureKind {
	for _, mark := range marks {
		for _, word := range mark.words {
			if strings.Contains(words, word) {
				return mark.kind
			}
		}
	}
	return Crashed
}

// waits are the forms in which a wait is written, each with its parts: "try
// again in 1h20m", "retry after 30", `retryDelay":"34.5s"`, "in 20 minutes".
var (
	compoundWait = lazyregexp.New(
		`(?i)(?:again|retry|reset|retrydelay|resets)[a-z_ ]*(?:in|after|delay)?["' :=]*((?:\d+(?:\.\d+)?(?:ms|[dhms]))+)\b`,
	)
	wordyWait = lazyregexp.New(
		`(?i)(?:again|retry|resets?)[a-z_ ]* (?:in|after) (\d+(?:\.\d+)?) ?(milliseconds?|seconds?|secs?|minutes?|mins?|hours?|days?)\b`,
	)
	bareWait = lazyregexp.New(`(?i)retry[- _]?after(?:[- _]?seconds)?["' :=]+(\d+(?:\.\d+)?)\b`)
)

// waitIn finds how long words ask to wait; 0 when they do not say.
func waitIn(words string) time.Duration {
	if found := wordyWait().FindStringSubmatch(words); found != nil {
		unit := strings.ToLower(found[2])
		if strings.HasPrefix(unit, "milli") {
			return waitOf(found[1] + "ms")
		}
		return waitOf(found[1] + unit[:1])
	}
	if found := compoundWait().FindStringSubmatch(words); found != nil {
		return waitOf(found[1])
	}
	if found := bareWait().FindStringSubmatch(words); found != nil {
		return waitOf(found[1] + "s")
	}
	return 0
}

// waitOf reads 1d2h3m4.5s; days are no unit of time.ParseDuration.
func waitOf(text string) time.Duration {
	var total time.Duration
	days, rest, found := strings.Cut(strings.ToLower(text), "d")
	if found {
		total = 24 * waitOf(days+"h")
	} else {
		rest = days
	}
	if parsed, err := time.ParseDuration(rest); err == nil {
		total += parsed
	}
	return bounded(total)
}

// bounded is a wait that can be believed; others are unknown.
func bounded(wait time.Duration) time.Duration {
	if wait < 0 || wait > longestWait {
		return 0
	}
	return wait
}

// clocks are the forms in which a time is written: "limit reached|1712345678",
// "resets 3pm (Europe/Berlin)", "try again at 3:04 PM".
var (
	epochTime = lazyregexp.New(`\|(\d{10})\b`)
	clockTime = lazyregexp.New(`(?i)(?:resets?|again)(?: at)? (\d{1,2})(?::(\d\d))? ?(am|pm)(?: \(([A-Za-z_/+-]+)\))?`)
)

// timeIn finds until when words ask to wait; zero when they do not say. A time
// of the day is the next one after now, in the zone that is named, else now's.
func timeIn(words string, now time.Time) time.Time {
	if found := epochTime().FindStringSubmatch(words); found != nil {
		seconds, _ := strconv.ParseInt(found[1], 10, 64)
		return time.Unix(seconds, 0)
	}
	found := clockTime().FindStringSubmatch(words)
	if found == nil {
		return time.Time{}
	}
	clock, err := time.Parse("3:04pm", found[1]+":"+cmp.Or(found[2], "00")+strings.ToLower(found[3]))
	if err != nil {
		return time.Time{}
	}
	zone, err := time.LoadLocation(found[4])
	if found[4] == "" || err != nil {
		zone = now.Location()
	}
	here := now.In(zone)
	next := time.Date(here.Year(), here.Month(), here.Day(), clock.Hour(), clock.Minute(), 0, 0, zone)
	if !next.After(now) {
		next = next.AddDate(0, 0, 1)
	}
	return next
}

// RetryAt is when a problem ends; nil when it is not known.
func (p *Problem) RetryAt(now time.Time) *time.Time {
	at := p.At
	if at.IsZero() && p.After > 0 {
		at = now.Add(p.After)
	}
	if at.IsZero() {
		at = timeIn(p.Message, now)
	}
	if !at.After(now) || at.Sub(now) > longestWait {
		return nil
	}
	at = at.UTC().Truncate(time.Second)
	return &at
}
