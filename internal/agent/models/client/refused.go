package client

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/agent/models"
)

// refused turns an answer that is no success into an error. Both APIs have one error object.
func (c *call) refused(got *http.Response, body []byte) *models.Error {
	var said struct {
		Error struct {
			Type    string
			Code    any
			Message string
		}
		Message string
	}
	_ = json.Unmarshal(body, &said)
	code, _ := said.Error.Code.(string)
	words := cmp.Or(said.Error.Message, said.Message, strings.TrimSpace(string(body[:min(len(body), 2000)])),
		http.StatusText(got.StatusCode))
	kind := kindOf(got.StatusCode, strings.ToLower(code+" "+said.Error.Type), strings.ToLower(words))
	failed := c.fail(kind, got.StatusCode, hint(kind, c.host)+words)
	if kind == models.RateLimit || kind == models.Server {
		failed.RetryAfter = retryAfter(got.Header)
	}
	return failed
}

// kindOf sorts a status, with what the server calls it and says of it.
func kindOf(status int, code, words string) models.ErrorKind {
	has := func(text string, parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
	}
	switch {
	case status == http.StatusPaymentRequired, has(code, "insufficient_quota", "billing"),
		has(words, "credit balance is too low"):
		return models.Budget
	case status == http.StatusRequestEntityTooLarge, has(code, "context_length_exceeded", "tokens_limit_reached"),
		status == http.StatusBadRequest && has(words, "prompt is too long", "maximum context length"):
		return models.TooLarge
	case status == http.StatusTooManyRequests, status == http.StatusForbidden && has(words, "rate limit"):
		return models.RateLimit
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return models.Authentication
	case status == http.StatusRequestTimeout, status >= 500:
		return models.Server
	default:
		return models.Invalid
	}
}

// hint says what to do about an error, where that is known.
func hint(kind models.ErrorKind, host string) string {
	switch {
	case kind == models.Authentication && host == githubModels:
		return "the token may not use GitHub Models (give the workflow `permissions: models: read`): "
	case kind == models.Authentication:
		return host + " does not accept the key: "
	default:
		return ""
	}
}

// githubModels is the host to which a workflow's token belongs.
const githubModels = "models.github.ai"

// retryAfter is how long the server asks to wait: seconds, or a date, which is
// held against the server's own clock. 0 means that it does not say.
func retryAfter(header http.Header) time.Duration {
	const longest = 366 * 24 * time.Hour
	text := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds > 0 {
		if seconds >= longest.Seconds() {
			return longest
		}
		return time.Duration(seconds * float64(time.Second))
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return 0
	}
	return min(max(until.Sub(now), 0), longest)
}
