package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// maxAnswer bounds one answer in bytes. A page of 100 issues with the longest
// bodies that GitHub allows has 26 MB.
const maxAnswer = 32 << 20

// wire sends one request, counts it, and reads its answer whole within the
// timeout, so that a connection that breaks in the middle of an answer is a
// failed request like any other.
type wire struct {
	next    http.RoundTripper
	timeout time.Duration
	sent    atomic.Int64
	changes atomic.Int64
	// answered says that the API was reached.
	answered atomic.Bool
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(request *http.Request) (*http.Response, error) {
	w.sent.Add(1)
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		w.changes.Add(1)
	}
	ctx, cancel := context.WithTimeout(request.Context(), w.timeout)
	defer cancel()
	answer, err := w.next.RoundTrip(request.WithContext(ctx))
	if err == nil || errors.Is(err, io.EOF) {
		w.answered.Store(true) // also by a server that hangs up
	}
	if err != nil {
		return nil, w.explain(request, err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		return nil, w.explain(request, err)
	}
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("the answer is larger than %d MB", maxAnswer>>20)
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	answer.ContentLength = int64(len(body))
	return answer, nil
}

// explain says of a timeout of ours that it was one.
func (w *wire) explain(request *http.Request, err error) error {
	if request.Context().Err() == nil && isTimeout(err) {
		return fmt.Errorf("no answer within %s: %w", w.timeout, err)
	}
	return err
}

// bodyOf reads an answer's body and puts it back.
func bodyOf(answer *http.Response) []byte {
	body, _ := io.ReadAll(answer.Body) // in memory already, see wire
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return body
}

// again is the request with its body from the start.
func again(request *http.Request) (*http.Request, error) {
	fresh := request.Clone(request.Context())
	if request.Body == nil || request.Body == http.NoBody {
		return fresh, nil
	}
	if request.GetBody == nil {
		return nil, fmt.Errorf("the body of %s %s cannot be sent twice", request.Method, request.URL.Path)
	}
	body, err := request.GetBody()
	if err != nil {
		return nil, err
	}
	fresh.Body = body
	return fresh, nil
}
