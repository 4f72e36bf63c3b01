package githubtest

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// FaultKind is what goes wrong.
type FaultKind string

// The faults.
const (
	// ServerError and BadGateway are answers 500 and 502.
	ServerError FaultKind = "500"
	BadGateway  FaultKind = "502"
	// Dropped closes the connection without an answer.
	Dropped FaultKind = "dropped connection"
	// PrimaryLimit and SecondaryLimit refuse because of too many requests.
	PrimaryLimit   FaultKind = "primary limit"
	SecondaryLimit FaultKind = "secondary limit"
	// Forbidden is a permission that the token lacks.
	Forbidden FaultKind = "403"
	// Cut answers 200 with an ETag and the first half of what it would.
	Cut FaultKind = "cut answer"
	// Slow answers only after the client has given up.
	Slow FaultKind = "slow"
)

// Fault makes one request fail.
type Fault struct {
	Kind FaultKind
	// Method and Path choose the requests; Path is a part of the path as the
	// description writes it. "" is any; Writes chooses those that change
	// something.
	Method, Path string
	Writes       bool
	// Skip lets that many of them through, Times says how many then fail; 0 is
	// one.
	Skip, Times int
	// After does what was asked first, and then fails.
	After bool
	// Wait is what the limits say; 0 is a minute.
	Wait time.Duration
	// Call, when set, is called when it strikes.
	Call func()
}

// Fail adds a fault.
func (s *Server) Fail(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Times = max(f.Times, 1)
	if f.Wait == 0 {
		f.Wait = time.Minute
	}
	s.faults = append(s.faults, &f)
}

// Mend removes all faults, and says how many had not struck to the end.
func (s *Server) Mend() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := 0
	for _, fault := range s.faults {
		if fault.Times > 0 {
			left++
		}
	}
	s.faults = nil
	return left
}

// fault is the one that strikes a request, nil when none does.
func (s *Server) fault(r *http.Request, path string) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fault := range s.faults {
		if fault.Times == 0 || !fault.hits(r, path) {
			continue
		}
		if fault.Skip > 0 {
			fault.Skip--
			continue
		}
		fault.Times--
		return fault
	}
	return nil
}

func (f *Fault) hits(r *http.Request, path string) bool {
	return (f.Method == "" || f.Method == r.Method) && strings.Contains(path, f.Path) &&
		(!f.Writes || r.Method != http.MethodGet)
}

func (f *Fault) status() int {
	switch f.Kind {
	case ServerError:
		return http.StatusInternalServerError
	case BadGateway:
		return http.StatusBadGateway
	case PrimaryLimit, SecondaryLimit, Forbidden:
		return http.StatusForbidden
	default:
		return 0
	}
}

// fail answers with the fault, and says whether that was an answer.
func (f *Fault) fail(w http.ResponseWriter, r *http.Request, now time.Time) bool {
	if f.Call != nil {
		f.Call()
	}
	message := "Server Error"
	switch f.Kind {
	case "":
		return false
	case Dropped:
		panic(http.ErrAbortHandler)
	case Slow:
		_, _ = io.Copy(io.Discard, r.Body) // that the client has gone is noticed only behind the body
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case PrimaryLimit:
		message = "API rate limit exceeded for installation ID 1."
		w.Header().Set("X-Ratelimit-Remaining", "0")
		w.Header().Set("X-Ratelimit-Resource", "core")
		w.Header().Set("X-Ratelimit-Reset", strconv.FormatInt(now.Add(f.Wait).Unix(), 10))
	case SecondaryLimit:
		message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
		w.Header().Set("Retry-After", strconv.Itoa(int(f.Wait.Seconds())))
	case Forbidden:
		message = errForbids.message
		w.Header().Set("X-Accepted-Github-Permissions", "checks=read")
	case ServerError, BadGateway, Cut: // nothing more to say
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(f.status())
	_, _ = fmt.Fprintf(w, `{"message":%q,"documentation_url":"https://docs.github.com/rest"}`, message)
	return true
}
