package githubtest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
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

// written is an answer as it is sent: with what the description requires and nobody here
// looks at, and held against it.
func written(method, path string, status int, body any) ([]byte, error) {
	op, err := operation(method, path)
	if err != nil {
		return nil, err
	}
	answer := op.Responses.Status(status)
	switch {
	case answer == nil || answer.Value == nil:
		return nil, fmt.Errorf("the description knows no status %d of it", status)
	case status == http.StatusNoContent:
		return nil, nil
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	if kind := answer.Value.Content.Get("application/json"); kind != nil && kind.Schema != nil {
		complete(kind.Schema.Value, value)
	}
	if text, err = json.Marshal(value); err != nil {
		return nil, err
	}
	return text, matches(answer.Value.Content, text)
}

// complete adds what a value lacks.
func complete(schema *openapi3.Schema, value any) {
	parts := append(slices.Clone(schema.AllOf), schema.AnyOf[:min(1, len(schema.AnyOf))]...)
	if one := schema.OneOf; schema.Discriminator != nil {
		parts = append(parts, one[len(one)-1]) // what the public sees is the last
	} else {
		parts = append(parts, one[:min(1, len(one))]...)
	}
	for _, part := range parts {
		complete(part.Value, value)
	}
	switch value := value.(type) {
	case []any:
		for _, one := range value {
			if schema.Items != nil {
				complete(schema.Items.Value, one)
			}
		}
	case map[string]any:
		for _, name := range schema.Required {
			if _, has := value[name]; !has && schema.Properties[name] != nil {
				value[name] = nothing(schema.Properties[name].Value)
			}
		}
		for name, one := range value {
			if known := schema.Properties[name]; known != nil {
				complete(known.Value, one)
			}
		}
	}
}

// nothing is a value of a schema that says as little as can be.
func nothing(schema *openapi3.Schema) any {
	switch {
	case schema.Nullable:
		return nil
	case len(schema.Enum) > 0:
		return schema.Enum[0]
	case schema.Type.Is("string"):
		return map[string]string{"date-time": "2026-01-01T00:00:00Z", "uri": site}[schema.Format]
	case schema.Type.Is("integer"), schema.Type.Is("number"):
		return 0
	case schema.Type.Is("boolean"):
		return false
	case schema.Type.Is("array"):
		return []any{}
	}
	object := map[string]any{}
	complete(schema, object)
	return object
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
