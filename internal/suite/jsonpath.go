package suite

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// JSONPath leads from the root of a JSON value to one inside of it, by the keys of
// objects, which are strings, and the indexes of lists, which are ints. The empty
// path is the root.
type JSONPath []any

var errPath = errors.New("write keys with dots (`a.b`), indexes as `[0]`, other keys in quotes (`a[\"b.c\"]`), and " +
	"the root as `$`")

// stepForm is `.key`, `."key"`, `["key"]` or `[n]`, with single quotes too, and the steps that follow; a backslash
// in quotes keeps the character behind it.
var stepForm = lazyregexp.New(`^(?s:\.([^.\[\]"']+)|\.(` + quotedForm + `)|\[(` + quotedForm + `)\]|` +
	`\[(0*[0-9]{1,9})\])((?s:[.\[].*)?)$`)

const quotedForm = `"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'`

var escapedCharacter = lazyregexp.New(`(?s)\\(.)`)

// ParseJSONPath reads a path such as `items[0].name`, `.items[0].name`,
// `[2].id`, `a["b.c"]`, or `$` and `.`, the root.
func ParseJSONPath(text string) (JSONPath, error) {
	path := JSONPath{}
	text = strings.TrimSpace(text)
	if text == "." {
		return path, nil
	}
	rest, rooted := strings.CutPrefix(text, "$")
	switch {
	case strings.HasPrefix(rest, ".["): // as jq writes it
		rest = rest[1:]
	case !rooted && !strings.HasPrefix(rest, ".") && !strings.HasPrefix(rest, "["):
		rest = "." + rest
	}
	for rest != "" {
		found := stepForm().FindStringSubmatch(rest)
		if found == nil {
			return nil, fmt.Errorf("cannot be read at %s; %w", Quote(rest), errPath)
		}
		switch quoted := cmp.Or(found[2], found[3]); {
		case quoted != "":
			path = append(path, escapedCharacter().ReplaceAllString(quoted[1:len(quoted)-1], "$1"))
		case found[4] != "":
			index, _ := strconv.Atoi(found[4]) // it has nine digits
			path = append(path, index)
		default:
			path = append(path, found[1])
		}
		rest = found[5]
	}
	return path, nil
}

// String renders the path so that ParseJSONPath reads it back.
func (p JSONPath) String() string {
	var out strings.Builder
	out.WriteByte('$')
	for _, step := range p {
		key, is := step.(string)
		switch {
		case !is:
			fmt.Fprintf(&out, "[%d]", step)
		case NameForm().MatchString(key) && !strings.Contains(key, "."):
			out.WriteString("." + key)
		default:
			out.WriteString(`["` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"]`)
		}
	}
	return out.String()
}

// Find follows the path. What is missing is not found; a null is found.
func (p JSONPath) Find(value any) (found any, ok bool) {
	for _, step := range p {
		there := false
		switch in := value.(type) {
		case []any:
			if index, is := step.(int); is && index < len(in) {
				value, there = in[index], true
			}
		case map[string]any:
			if key, is := step.(string); is {
				value, there = in[key]
			}
		}
		if !there {
			return nil, false
		}
	}
	return value, true
}

// sameJSON compares JSON values: numbers by their exact value, objects without
// regard to order, and everything with its type.
func sameJSON(a, b any) bool { return reflect.DeepEqual(canonical(a), canonical(b)) }

// canonical is a JSON value in which equal numbers are written alike.
func canonical(value any) any {
	switch value := value.(type) {
	case json.Number:
		if number, err := metric.ParseValue(value.String()); err == nil {
			return json.Number(number.String())
		}
	case []any:
		return lists.Map(value, canonical)
	case map[string]any:
		object := map[string]any{}
		for key, inner := range value {
			object[key] = canonical(inner)
		}
		return object
	}
	return value
}

// containsJSON reports whether a value has all that part says: of an object the
// keys that part has, anything else is compared whole.
func containsJSON(value, part any) bool {
	wanted, is := part.(map[string]any)
	object, too := value.(map[string]any)
	if !is || !too {
		return !is && sameJSON(value, part)
	}
	for key, inner := range wanted {
		if found, there := object[key]; !there || !containsJSON(found, inner) {
			return false
		}
	}
	return true
}

// jsonText renders a value as JSON, for people: bounded and on one line.
func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "a value that cannot be shown"
	}
	return plain.Short(string(text), MaxShown)
}
