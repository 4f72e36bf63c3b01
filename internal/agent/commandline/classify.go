package commandline

import (
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
		Message: strings.Join(strings.Fields(words[:min(len(words), maxWords)]), " "),
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
	words = strings.ToLower(words)
	money := kindIn(words) == Budget
	switch {
	case status == paymentRequired, status == tooManyRequests && money:
		return Budget
	case status == tooManyRequests:
		return RateLimit
	case status == unauthorized, status == forbidden && !money:
		return Authentication
	case status >= internalServerError:
		return Crashed
	default:
		return kindIn(words)
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
		`(?i)(?:again|retry|reset|retrydelay|resets)[a-z_ ]*(?:in|after|delay)?["' :=]*((?:\d+(?:\.\d+)?(?:ms|[dhms]))+)\b`)
	wordyWait = lazyregexp.New(
		`(?i)(?:again|retry|resets?)[a-z_ ]* (?:in|after) (\d+(?:\.\d+)?) ?(milliseconds?|seconds?|secs?|minutes?|mins?|hours?|days?)\b`)
	bareWait = lazyregexp.New(`(?i)retry[- _]?after(?:[- _]?seconds)?["' :=]+(\d+(?:\.\d+)?)\b`)
)

// waitIn finds how long words ask to wait; 0 when they do not say.
func waitIn(words string) time.Duration {
	if found := wordyWait().FindStringSubmatch(words); found != nil {
		return seconds(found[1], unit(found[2]))
	}
	if found := compoundWait().FindStringSubmatch(words); found != nil {
		return compound(found[1])
	}
	if found := bareWait().FindStringSubmatch(words); found != nil {
		return seconds(found[1], time.Second)
	}
	return 0
}

func unit(name string) time.Duration {
	switch lower := strings.ToLower(name); {
	case strings.HasPrefix(lower, "milli"):
		return time.Millisecond
	case strings.HasPrefix(lower, "s"):
		return time.Second
	case strings.HasPrefix(lower, "m"):
		return time.Minute
	case strings.HasPrefix(lower, "h"):
		return time.Hour
	default:
		return 24 * time.Hour
	}
}

// compound reads 1d2h3m4.5s; days are no unit of time.ParseDuration.
func compound(text string) time.Duration {
	text = strings.ToLower(text)
	days, rest, found := strings.Cut(text, "d")
	var total time.Duration
	if found {
		total, text = seconds(days, 24*time.Hour), rest
	}
	if parsed, err := time.ParseDuration(text); err == nil {
		total += parsed
	}
	return bounded(total)
}

func seconds(number string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n > longestWait.Seconds() {
		return 0
	}
	return bounded(time.Duration(n * float64(unit)))
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
		return epoch(found[1])
	}
	found := clockTime().FindStringSubmatch(words)
	if found == nil {
		return time.Time{}
	}
	hour, _ := strconv.Atoi(found[1])
	minute, _ := strconv.Atoi(found[2])
	zone, err := time.LoadLocation(found[4])
	if found[4] == "" || err != nil {
		zone = now.Location()
	}
	hour %= 12
	if strings.EqualFold(found[3], "pm") {
		hour += 12
	}
	here := now.In(zone)
	next := time.Date(here.Year(), here.Month(), here.Day(), hour, minute, 0, 0, zone)
	if !next.After(now) {
		next = next.AddDate(0, 0, 1)
	}
	return next
}

func epoch(digits string) time.Time {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	return time.Unix(n, 0)
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
