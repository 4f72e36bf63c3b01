package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/autoloop/internal/plain"
)

// Error is a request that GitHub refused or did not answer. Its text is one
// line that says what was tried, what came back, and what to do next; secrets
// in it are masked.
type Error struct {
	// Op is what was tried, such as "list issues".
	Op string
	// Status is the answer's, or 0.
	Status int
	// Message is GitHub's, in one line.
	Message string
	// Cure is what a person can do, "" when that is not known.
	Cure string
	// Unsure says that a write may have been done all the same.
	Unsure bool

	cause error
}

// Error is the whole line.
func (e *Error) Error() string {
	text := "GitHub: " + e.Op + ": " + e.Message
	if e.Status > 0 {
		text += fmt.Sprintf(" (%d)", e.Status)
	}
	if e.Cure != "" {
		text += "; " + e.Cure
	}
	return text
}

// Unwrap returns what was behind it, such as the context's error. It is not
// masked and not for people.
func (e *Error) Unwrap() error { return e.cause }

// NotFound says whether err is of something that is not there, or that the
// token may not see.
func NotFound(err error) bool { return status(err) == http.StatusNotFound }

// Gone says whether err is of something that is not there, or no more.
func Gone(err error) bool { return NotFound(err) || Disabled(err) }

// Disabled says whether err is of something that was switched off, or deleted.
func Disabled(err error) bool { return status(err) == http.StatusGone }

// Invalid says whether err is of a request that GitHub understood and would not
// do, such as one for what is there already.
func Invalid(err error) bool { return status(err) == http.StatusUnprocessableEntity }

// Refused says whether err is of something that the token may not do or see.
func Refused(err error) bool {
	return withheld(err) || status(err) == http.StatusUnauthorized
}

// withheld says whether err is of something that the token may not see, or that is not there.
func withheld(err error) bool { return status(err) == http.StatusForbidden || NotFound(err) }

func status(err error) int {
	if failed, ok := errors.AsType[*Error](err); ok {
		return failed.Status
	}
	return 0
}

// maxMessage bounds what others wrote, in characters.
const maxMessage = 300

// fail makes an Error of what go-github returned; nil stays nil.
func (c *Client) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	if limit, ok := errors.AsType[*LimitError](err); ok {
		return fmt.Errorf("GitHub: %s: %w", op, limit)
	}
	failed := &Error{Op: op, Unsure: true, cause: err}
	told := err.Error()
	switch refused, is := errors.AsType[*gh.ErrorResponse](err); {
	case is:
		told = message(refused)
		failed.Status = refused.Response.StatusCode
		failed.Unsure = failed.Status >= http.StatusInternalServerError
		failed.Cure = advice(refused.Response, told)
	case errors.As(err, new(*UnreachableError)):
		failed.Cure = "look whether it can be reached from here; this run goes on without it"
	case !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded):
		failed.Cure = "look whether the API can be reached from here, then run it again"
	}
	failed.Message = c.secrets.Replace(plain.Short(told, maxMessage))
	return failed
}

// LimitError says that GitHub answers no more requests of this token for a
// while, longer than Options.Patience.
type LimitError struct {
	// Secondary says that it is the limit on bursts, not that on the hour.
	Secondary bool
	// Until is when requests are answered again.
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

// UnreachableError says that the API answered nothing in this run: not to the first request,
// and not to its repeats. No further request of the run is sent.
type UnreachableError struct {
	host string
	told bool
	err  error
}

// Error names the API and the reason.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("the API at %s cannot be reached: %v", e.host, e.err)
}

// Unwrap returns what went wrong with the first request.
func (e *UnreachableError) Unwrap() error { return e.err }

// Reported reports whether err is about an API that cannot be reached and was
// asked about before, so that people hear of it once in a run.
func Reported(err error) bool {
	failed, is := errors.AsType[*UnreachableError](err)
	if !is {
		return false
	}
	told := failed.told
	failed.told = true
	return told
}

func message(refused *gh.ErrorResponse) string {
	text := cmp.Or(refused.Message, http.StatusText(refused.Response.StatusCode))
	for i, detail := range refused.Errors {
		if i == 3 {
			break
		}
		text += ": " + cmp.Or(detail.Message, strings.TrimSpace(detail.Resource+" "+detail.Field+" "+detail.Code))
	}
	return text
}

// advice is what a person can do about an answer.
func advice(answer *http.Response, message string) string {
	switch answer.StatusCode {
	case http.StatusUnauthorized:
		return "the token is wrong or has expired; give another in GITHUB_TOKEN"
	case http.StatusForbidden:
		if strings.Contains(message, "archived") {
			return "unarchive the repository (Settings, General), or run Autoloop in a fork"
		}
		if needs := answer.Header.Get("X-Accepted-Github-Permissions"); needs != "" {
			return "the token lacks a permission; it needs " + plain.Short(needs, 100)
		}
		if needs := answer.Header.Get("X-Accepted-Oauth-Scopes"); needs != "" {
			return "the token lacks a scope; it needs one of: " + plain.Short(needs, 100)
		}
		return "the token may not do this; see its permissions"
	case http.StatusNotFound:
		return "it is not there, or the token may not see it (`iterate doctor` asks for each permission)"
	case http.StatusGone:
		return "it was switched off or deleted in this repository"
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusInternalServerError,
		http.StatusGatewayTimeout:
		return "GitHub has trouble; run it again later"
	default:
		return ""
	}
}
