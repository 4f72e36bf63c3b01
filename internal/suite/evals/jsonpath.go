package evals

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// JSONPath leads from the root of a JSON value to one inside of it. The empty
// path is the root.
type JSONPath []JSONStep

// JSONStep is one key of an object, or one index of a list.
type JSONStep struct {
	Key   string
	Index int
	// IsIndex tells which of the two it is.
	IsIndex bool
}

// maxIndex is the largest index that can be written, and maxSteps the length of
// a path.
const (
	maxIndex = 1_000_000_000
	maxSteps = 100
)

var errPath = errors.New("write keys with dots (`a.b`), indexes as `[0]`, other keys in quotes (`a[\"b.c\"]`), and " +
	"the root as `$`")

// ParseJSONPath reads a path such as `items[0].name`, `.items[0].name`,
// `[2].id`, `a["b.c"]`, or `$` and `.`, the root.
func ParseJSONPath(text string) (JSONPath, error) {
	rest := strings.TrimSpace(text)
	if rest == "" {
		return nil, fmt.Errorf("is empty; %w", errPath)
	}
	path := JSONPath{}
	if rest == "." {
		return path, nil
	}
	rest = strings.TrimPrefix(rest, "$")
	if strings.HasPrefix(rest, ".[") { // as jq writes it
		rest = rest[1:]
	}
	if strings.HasPrefix(text, "$") && rest != "" && rest[0] != '.' && rest[0] != '[' {
		return nil, fmt.Errorf("goes on with %s behind `$`; %w", document.Quote(rest), errPath)
	}
	if rest != "" && rest[0] != '[' && rest[0] != '.' {
		rest = "." + rest
	}
	for rest != "" {
		step, left, err := nextStep(rest)
		if err != nil {
			return nil, fmt.Errorf("cannot be read at %s; %w", document.Quote(rest), errPath)
		}
		if path = append(path, step); len(path) > maxSteps {
			return nil, fmt.Errorf("has more than %d steps", maxSteps)
		}
		rest = left
	}
	return path, nil
}

// stepForm is `.key`, `."key"`, `["key"]` or `[n]`, with single quotes too; a backslash
// in quotes keeps the character behind it.
var stepForm = lazyregexp.New(`^(?s:\.([^.\[\]"']+)|\.(` + quotedForm + `)|\[(` + quotedForm + `)\]|\[([0-9]+)\])`)

const quotedForm = `"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'`

var escapedCharacter = lazyregexp.New(`(?s)\\(.)`)

// nextStep reads the step that a text begins with.
func nextStep(text string) (step JSONStep, rest string, err error) {
	found := stepForm().FindStringSubmatch(text)
	if found == nil {
		return step, "", errPath
	}
	key, quoted, digits := found[1], cmp.Or(found[2], found[3]), found[4]
	switch {
	case quoted != "":
		step.Key = escapedCharacter().ReplaceAllString(quoted[1:len(quoted)-1], "$1")
	case digits != "":
		step.IsIndex = true
		step.Index, err = strconv.Atoi(digits)
	default:
		step.Key = key
	}
	rest = text[len(found[0]):]
	if err != nil || step.Index > maxIndex || rest != "" && rest[0] != '.' && rest[0] != '[' {
		return JSONStep{}, "", errPath
	}
	return step, rest, nil
}

// String renders the path so that ParseJSONPath reads it back.
func (p JSONPath) String() string {
	var out strings.Builder
	out.WriteByte('$')
	for _, step := range p {
		switch {
		case step.IsIndex:
			fmt.Fprintf(&out, "[%d]", step.Index)
		case document.NameForm().MatchString(step.Key) && !strings.Contains(step.Key, "."):
			out.WriteString("." + step.Key)
		default:
			escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(step.Key)
			out.WriteString(`["` + escaped + `"]`)
		}
	}
	return out.String()
}

// Find follows the path. What is missing is not found; a null is found.
func (p JSONPath) Find(value any) (found any, ok bool) {
	for _, step := range p {
		if step.IsIndex {
			list, is := value.([]any)
			if !is || step.Index >= len(list) {
				return nil, false
			}
			value = list[step.Index]
			continue
		}
		object, is := value.(map[string]any)
		if !is {
			return nil, false
		}
		if value, is = object[step.Key]; !is {
			return nil, false
		}
	}
	return value, true
}

// sameJSON compares JSON values: numbers by their exact value, objects without
// regard to order, and everything with its type.
func sameJSON(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		x, errX := metric.ParseValue(a.String())
		y, errY := metric.ParseValue(b.String())
		if errX != nil || errY != nil {
			return ok && a == b
		}
		return ok && x.Cmp(y) == 0
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameJSON)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, sameJSON)
	default:
		return isScalar(a) && isScalar(b) && a == b
	}
}

// containsJSON reports whether a value has all that part says: of an object the
// keys that part has, anything else is compared whole.
func containsJSON(value, part any) bool {
	wanted, is := part.(map[string]any)
	if !is {
		return sameJSON(value, part)
	}
	object, is := value.(map[string]any)
	if !is {
		return false
	}
	for key, inner := range wanted {
		if found, there := object[key]; !there || !containsJSON(found, inner) {
			return false
		}
	}
	return true
}

// isScalar reports whether == can be used on what encoding/json made.
func isScalar(v any) bool {
	switch v.(type) {
	case []any, map[string]any:
		return false
	default:
		return true
	}
}

// jsonText renders a value as JSON, for people: bounded and on one line.
func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "a value that cannot be shown"
	}
	return plain.Short(string(text), document.MaxShown)
}
