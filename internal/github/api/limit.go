package api

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// LimitError says that GitHub answers no more requests of this token for a
// while, longer than Options.Patience.
type LimitError struct {
	// Secondary says that it is the limit on bursts, not that on the hour.
	Secondary bool
	// Until is when requests are answered again, in UTC.
	Until time.Time
	// Wait is how long that is from now.
	Wait time.Duration
}

// Error tells the time from which on it works again.
func (e *LimitError) Error() string {
	what := "GitHub's hourly rate limit of this token is used up"
	if e.Secondary {
		what = "GitHub's secondary rate limit stopped us"
	}
	return fmt.Sprintf("%s until %s (in %s); run it again then", what, e.Until.UTC().Format(time.RFC3339),
		e.Wait.Round(time.Second))
}

// noHint is how long GitHub asks clients to wait after a secondary limit that
// names no time.
const noHint = time.Minute

// limiter knows the rate limits from the answers. It sends nothing while they
// forbid it, and turns a refusal into a LimitError; waiting is its caller's.
// It takes the limits' headers out of the answers: go-github would hold
// requests back by a clock of its own.
type limiter struct {
	next http.RoundTripper
	now  func() time.Time

	mu sync.Mutex
	// until is the end of the limit for each resource; "" is all of them.
	until map[string]LimitError
}

// RoundTrip implements http.RoundTripper.
func (l *limiter) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := l.standing(); err != nil {
		return nil, err
	}
	answer, err := l.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	limit := l.read(answer)
	for name := range answer.Header {
		if strings.HasPrefix(name, "X-Ratelimit-") {
			answer.Header.Del(name)
		}
	}
	if limit == nil {
		return answer, nil
	}
	_ = answer.Body.Close()
	return nil, limit
}

// standing is the limit that holds now, or nil.
func (l *limiter) standing() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, limit := range l.until {
		if wait := limit.Until.Sub(l.now()); wait > 0 {
			limit.Wait = wait
			return &limit
		}
	}
	return nil
}

// read notes what an answer says of the limits, and returns the limit when the
// answer is a refusal because of it.
func (l *limiter) read(answer *http.Response) error {
	header := answer.Header
	used := header.Get("X-Ratelimit-Remaining") == "0"
	limit := LimitError{Until: l.now().Add(noHint)} // when it is not told
	if seconds, err := strconv.ParseInt(header.Get("X-Ratelimit-Reset"), 10, 64); err == nil && seconds > 0 {
		limit.Until = time.Unix(seconds, 0).UTC()
	}
	refused := answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusTooManyRequests
	if refused && (header.Get("Retry-After") != "" || !used && secondary(bodyOf(answer))) {
		wait := noHint
		if seconds, err := strconv.Atoi(strings.TrimSpace(header.Get("Retry-After"))); err == nil && seconds >= 0 {
			wait = time.Duration(min(seconds, 24*60*60)) * time.Second
		}
		limit = LimitError{Secondary: true, Until: l.now().Add(wait)}
		used = true
	}
	if !used && answer.StatusCode == http.StatusTooManyRequests {
		limit = LimitError{Secondary: true, Until: l.now().Add(noHint)}
		used = true
	}
	if !used {
		return nil
	}
	limit.Wait = limit.Until.Sub(l.now())
	resource := header.Get("X-Ratelimit-Resource")
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until == nil {
		l.until = map[string]LimitError{}
	}
	if limit.Secondary || resource == "core" || resource == "" {
		l.until[resource] = limit
	}
	if !refused {
		return nil
	}
	return &limit
}

func secondary(body []byte) bool {
	body = bytes.ToLower(body[:min(len(body), 4096)])
	return bytes.Contains(body, []byte("secondary rate limit")) || bytes.Contains(body, []byte("abuse detection"))
}
