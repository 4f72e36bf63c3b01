package githubtest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
)

// github.json is a part of GitHub's published description; openapi/cut.mjs
// made it.
//
//go:embed openapi/github.json
var described []byte

var description = sync.OnceValues(func() (*openapi3.T, error) { return openapi3.NewLoader().LoadFromData(described) })

// operation finds an operation by its method and its path template.
func operation(method, path string) (*openapi3.Operation, error) {
	doc, err := description()
	if err != nil {
		return nil, err
	}
	item := doc.Paths.Value(path)
	if item == nil || item.GetOperation(method) == nil {
		return nil, fmt.Errorf("GitHub's description has no %s %s; add it to openapi/cut.mjs", method, path)
	}
	return item.GetOperation(method), nil
}

// checkRequest holds the body of a request against the description.
func checkRequest(method, path string, body []byte) error {
	op, err := operation(method, path)
	if err != nil || op.RequestBody == nil || len(body) == 0 {
		return err
	}
	return matches(op.RequestBody.Value.Content, body)
}

// checkAnswer holds an answer against the description.
func checkAnswer(method, path string, status int, body []byte) error {
	op, err := operation(method, path)
	if err != nil {
		return err
	}
	answer := op.Responses.Status(status)
	switch {
	case answer == nil || answer.Value == nil:
		return fmt.Errorf("the description knows no status %d of it", status)
	case status == http.StatusNoContent:
		return nil
	}
	return matches(answer.Value.Content, body)
}

func matches(content openapi3.Content, body []byte) error {
	kind := content.Get("application/json")
	if kind == nil || kind.Schema == nil {
		return nil
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	if err := kind.Schema.Value.VisitJSON(value, openapi3.MultiErrors()); err != nil {
		text := err.Error()
		return fmt.Errorf("not as described: %s", strings.Join(strings.Fields(text[:min(len(text), 1500)]), " "))
	}
	return nil
}
