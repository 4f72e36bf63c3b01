package evals

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/plain"
)

// Output is what stands at a check's path below `outputs/`.
type Output struct {
	// Exists is for whatever is there. Problem says why a file that is there cannot
	// be read, or of one that is not, why nothing is known; else it is "".
	Exists  bool
	Problem string
	Data    []byte
}

// Verdict answers a check that looks at a file; evidence says in one line what
// was seen. A ShellCommand is not answered here.
func (c Check) Verdict(out Output) (passed bool, evidence string) {
	switch {
	case c.Kind == OutputNotExists:
		if out.Exists {
			return false, "outputs/" + c.File + " is there"
		}
		if out.Problem != "" {
			return false, "outputs/: " + out.Problem
		}
		return true, "there is no outputs/" + c.File
	case !out.Exists && out.Problem != "":
		return false, "outputs/: " + out.Problem
	case !out.Exists:
		return false, "there is no outputs/" + c.File
	case c.Kind == OutputExists:
		return true, "outputs/" + c.File + " is there"
	case out.Problem != "":
		return false, fmt.Sprintf("outputs/%s: %s", c.File, out.Problem)
	}
	switch c.Kind {
	case exactAnswer: // What is right is not said: whoever improves the skill would write it down there.
		text := strings.TrimSpace(strings.TrimPrefix(string(out.Data), "\ufeff"))
		switch {
		case text == "":
			return false, fmt.Sprintf("outputs/%s is empty", c.File)
		case strings.EqualFold(text, c.Text):
			return true, "it is the answer"
		default:
			return false, fmt.Sprintf("the answer is not %s", document.Quote(text))
		}
	case OutputContains, OutputNotContains, OutputMatches:
		return c.text(out.Data)
	default:
		return c.json(out.Data)
	}
}

// text looks at the file as bytes.
func (c Check) text(data []byte) (passed bool, evidence string) {
	if c.Kind == OutputMatches {
		if why := c.costly(len(data)); why != "" {
			return false, fmt.Sprintf("outputs/%s %s", c.File, why)
		}
		if at := c.Pattern.FindIndex(data); at != nil {
			return true, "matches: " + document.Quote(string(data[at[0]:at[1]]))
		}
		return false, fmt.Sprintf("nothing matches %s", document.Quote(c.Pattern.String()))
	}
	there := bytes.Contains(data, []byte(c.Text))
	evidence = "does not contain "
	if there {
		evidence = "contains "
	}
	return there == (c.Kind == OutputContains), evidence + document.Quote(c.Text)
}

// json looks at a value of the file.
func (c Check) json(data []byte) (passed bool, evidence string) {
	root, err := decodeJSON(data)
	if err != nil {
		return false, fmt.Sprintf("outputs/%s is not JSON: %s", c.File, plain.Short(err.Error(), document.MaxShown))
	}
	if c.Kind == JSONValid {
		return true, "it is JSON"
	}
	value, found := c.Path.Find(root)
	switch {
	case !found:
		return c.Kind == JSONFieldAbsent, fmt.Sprintf("there is no %s", c.PathText)
	case value == nil && (c.Kind == JSONFieldAbsent || c.Kind == JSONFieldExists): // null says that there is no value
		return c.Kind == JSONFieldAbsent, fmt.Sprintf("%s is null", c.PathText)
	case c.Kind == JSONFieldAbsent:
		return false, fmt.Sprintf("%s is there: %s", c.PathText, jsonText(value))
	}
	if text, ok := scalarText(value); ok && c.Kind == JSONFieldMatches {
		if why := c.costly(len(text)); why != "" {
			return false, fmt.Sprintf("%s %s", c.PathText, why)
		}
	}
	return c.holds(value), fmt.Sprintf("%s is %s", c.PathText, jsonText(value))
}

// holds answers a check of a value that is there.
func (c Check) holds(value any) bool {
	switch c.Kind {
	case JSONFieldExists:
		return true
	case JSONFieldEquals:
		return sameJSON(value, c.Value)
	case JSONFieldMatches:
		text, ok := scalarText(value)
		return ok && c.Pattern.MatchString(text)
	case JSONFieldCount:
		list, ok := value.([]any)
		object, is := value.(map[string]any)
		count := len(list) + len(object)
		return (ok || is) && slices.Contains(countOperators()[c.Operator], cmp.Compare(count, c.Count))
	case JSONArrayContains:
		list, _ := value.([]any)
		for _, item := range list {
			if sameJSON(item, c.Value) || c.Partial && containsJSON(item, c.Value) {
				return true
			}
		}
	default:
	}
	return false
}

// scalarText is a value that a pattern can be held against.
func scalarText(value any) (string, bool) {
	switch value := value.(type) {
	case string:
		return value, true
	case json.Number:
		return value.String(), true
	case bool:
		return fmt.Sprint(value), true
	default:
		return "", false
	}
}

// countOperators are those of JSONFieldCount, with how a count may compare.
func countOperators() map[string][]int {
	return map[string][]int{"eq": {0}, "ne": {-1, 1}, "gt": {1}, "gte": {0, 1}, "lt": {-1}, "lte": {-1, 0}}
}

// decodeJSON reads one JSON value with exact numbers, and nothing behind it.
func decodeJSON(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("it ends too early")
		}
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its end")
	}
	return value, nil
}

// maxMatching bounds the work of one pattern, in instructions times bytes: matching
// takes at most that many steps, of 30 to 120 nanoseconds.
const maxMatching = 500_000_000

// costly says why a check's pattern is not held against a text of so many bytes,
// or "": a match cannot be interrupted, and what it costs grows with both.
func (c Check) costly(size int) string {
	parsed, err := syntax.Parse(c.Pattern.String(), syntax.Perl)
	if err != nil {
		return "" // it was compiled before
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil || size == 0 || len(program.Inst) <= maxMatching/size {
		return ""
	}
	return fmt.Sprintf("has %d bytes, too many for a pattern of %d steps; make the output or the pattern smaller", size,
		len(program.Inst))
}
