package metric

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// Measurement is what one run of an evaluation printed.
type Measurement struct {
	// Metric is the value of the metric; nil when the evaluation said that the
	// tree cannot be scored (a JSON null).
	Metric *Value `json:"metric"`
	// RejectedReason is the evaluation's own "rejected_reason", when it gave one, of
	// any length.
	RejectedReason string `json:"rejected_reason,omitempty"`
	// Numbers holds every number of the object by its dotted key, for
	// guardrails. A bare number has no keys.
	Numbers map[string]Value `json:"numbers,omitempty"`
}

// ErrNoMetric says that an evaluation printed nothing that is a metric.
var ErrNoMetric = errors.New("no metric in the evaluation's output")

const (
	// maxNumbers bounds how many numbers of one object are kept.
	maxNumbers = 256
	// scanFactor bounds the work of finding an object: so many times the
	// length of the output may be looked at in failed attempts.
	scanFactor = 8
	// minScan is the least number of bytes that may be looked at.
	minScan = 1 << 20
)

var nonFiniteToken = lazyregexp.New(`^-?(NaN|Infinity)\b`)

// Extract reads the metric from the standard output of an evaluation: the last
// JSON object (it may span lines), else a last line that is a bare number.
// With key the object's number of that name counts (dots for nesting), without
// it the object's only number. An object that is cut off at the end, or that has
// a key twice, is an error. The error wraps ErrNoMetric or ErrNotFinite.
func Extract(stdout []byte, key string) (Measurement, error) {
	object, nonFinite, err := lastObject(stdout)
	if err != nil {
		return Measurement{}, err
	}
	if nonFinite {
		return Measurement{}, fmt.Errorf("the last JSON object has a NaN or an infinity: %w", ErrNotFinite)
	}
	if object == nil {
		return bareNumber(stdout)
	}
	if err := unique(object); err != nil {
		return Measurement{}, err
	}
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.UseNumber()
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil {
		return Measurement{}, fmt.Errorf("read the last JSON object: %w", err)
	}
	return fromFields(fields, key)
}

// ExtractEnd is Extract for an output whose beginning was cut off: an object that may be
// a part of one that began there is an error.
func ExtractEnd(end []byte, key string) (Measurement, error) {
	object, _, err := lastObject(end)
	if err != nil {
		return Measurement{}, err
	}
	after := bytes.TrimLeft(end[bytes.LastIndex(end, object)+len(object):], " \t\r\n")
	if object != nil && len(after) > 0 && strings.IndexByte(",]}", after[0]) >= 0 { // what follows within JSON
		return Measurement{}, fmt.Errorf(
			"%w: it printed so much that the beginning of its last JSON object is cut off; print it on a line of its "+
				"own, after the rest", ErrNoMetric)
	}
	return Extract(end, key)
}

// ExtractOne is Extract for a file that holds one result: a second object in it, or
// a number on a line of its own beside another result, is an error. Whoever shares
// the file with the code under test is not taken in by what that prints.
func ExtractOne(text []byte, key string) (Measurement, error) {
	results, rest, budget := 0, text, max(scanFactor*len(text), minScan)
	for {
		at := bytes.IndexByte(rest, '{')
		between := rest
		if at >= 0 {
			between = rest[:at]
		}
		for line := range bytes.Lines(between) {
			if _, err := ParseValue(string(bytes.TrimSpace(line))); err == nil {
				results++
			}
		}
		if at < 0 || results > 1 {
			break
		}
		length, broken, cut := objectLength(rest[at:])
		if budget -= max(broken, 64); cut || budget < 0 {
			break // which Extract says
		}
		if length > 0 {
			results++
		}
		rest = rest[at+max(length, 1):]
	}
	if results > 1 {
		return Measurement{}, fmt.Errorf(
			"%w: it has more than one result; write one there, and nothing of what the code under test prints",
			ErrNoMetric)
	}
	return Extract(text, key)
}

func bareNumber(stdout []byte) (Measurement, error) {
	text := bytes.TrimSpace(stdout)
	if at := bytes.LastIndexByte(text, '\n'); at >= 0 {
		text = bytes.TrimSpace(text[at+1:])
	}
	if len(text) == 0 {
		return Measurement{}, fmt.Errorf("%w: it printed nothing", ErrNoMetric)
	}
	value, err := ParseValue(string(text))
	if errors.Is(err, ErrNotNumber) {
		return Measurement{}, fmt.Errorf("%w: no JSON object, and its last line %q is no number", ErrNoMetric,
			clip(string(text)))
	}
	if err != nil {
		return Measurement{}, err
	}
	return Measurement{Metric: &value}, nil
}

func fromFields(fields map[string]any, key string) (Measurement, error) {
	found := walker{numbers: map[string]Value{}}
	if err := found.walk("", fields); err != nil {
		return Measurement{}, err
	}
	for name := range found.numbers {
		if number, is := numberAt(fields, name); is && found.twice {
			found.numbers[name] = number // the same of the two always, and the one that a metric is read from
		}
	}
	m := Measurement{Numbers: found.numbers}
	m.RejectedReason, _ = fields["rejected_reason"].(string)
	if key == "" {
		return onlyNumber(m, found)
	}
	value, ok := lookup(fields, key)
	if !ok {
		return Measurement{}, fmt.Errorf("%w: no key %q in its JSON (numbers there: %s)", ErrNoMetric, key,
			names(found.numbers))
	}
	switch value := value.(type) {
	case nil:
		return m, nil
	case json.Number:
		number, err := ParseValue(value.String())
		if err != nil {
			return Measurement{}, fmt.Errorf("key %q: %w", key, err)
		}
		m.Metric = &number
		return m, nil
	default:
		return Measurement{}, fmt.Errorf("%w: key %q of its JSON is no number", ErrNoMetric, key)
	}
}

func onlyNumber(m Measurement, found walker) (Measurement, error) {
	switch {
	case found.count == 1:
		for _, value := range found.numbers {
			m.Metric = &value
		}
		return m, nil
	case found.count == 0 && found.nulls == 1:
		return m, nil
	case found.count == 0:
		return Measurement{}, fmt.Errorf("%w: its JSON has no number", ErrNoMetric)
	default:
		return Measurement{}, fmt.Errorf("%w: its JSON has %d numbers (%s); say which with `metric:`", ErrNoMetric,
			found.count, names(m.Numbers))
	}
}

// walker collects the numbers of nested objects under dotted keys.
type walker struct {
	numbers      map[string]Value
	count, nulls int
	twice        bool // a name is there by its dots and by nesting
}

func (w *walker) walk(prefix string, fields map[string]any) error {
	for name, value := range fields {
		switch value := value.(type) {
		case nil:
			w.nulls++
		case json.Number:
			w.count++
			number, err := ParseValue(value.String())
			if err != nil {
				return fmt.Errorf("key %q: %w", prefix+name, err)
			}
			_, twice := w.numbers[prefix+name]
			w.twice = w.twice || twice
			if len(w.numbers) < maxNumbers {
				w.numbers[prefix+name] = number
			}
		case map[string]any:
			if err := w.walk(prefix+name+".", value); err != nil {
				return err
			}
		}
	}
	return nil
}

func numberAt(fields map[string]any, key string) (Value, bool) {
	found, _ := lookup(fields, key)
	text, is := found.(json.Number)
	if !is {
		return Value{}, false
	}
	number, err := ParseValue(text.String())
	return number, err == nil
}

// lookup finds a dotted key; a key that has the dots in its own name wins.
func lookup(fields map[string]any, key string) (any, bool) {
	if value, ok := fields[key]; ok {
		return value, true
	}
	for at := range len(key) {
		if key[at] != '.' {
			continue
		}
		if nested, ok := fields[key[:at]].(map[string]any); ok {
			if value, ok := lookup(nested, key[at+1:]); ok {
				return value, true
			}
		}
	}
	return nil, false
}

// lastObject returns the last complete JSON object of the output, or nil; and
// whether, after it, an object was broken by a NaN or an infinity.
func lastObject(out []byte) (object []byte, nonFinite bool, err error) {
	budget := max(scanFactor*len(out), minScan)
	for at := bytes.IndexByte(out, '{'); at >= 0; {
		rest := out[at:]
		length, broken, cut := objectLength(rest)
		switch {
		case cut:
			return nil, false, fmt.Errorf("%w: its last JSON object is cut off; print it whole, on a line of its own",
				ErrNoMetric)
		case length > 0:
			object, nonFinite = rest[:length], false
		case nonFiniteToken().Match(rest[broken:]):
			nonFinite = true
			length = 1
		default:
			length = 1
		}
		if budget -= max(broken, 64); broken > 0 && budget < 0 {
			return nil, false, fmt.Errorf(
				"%w: too many unclosed braces to search; print the JSON object last, on a line of its own", ErrNoMetric)
		}
		next := bytes.IndexByte(rest[length:], '{')
		if next < 0 {
			break
		}
		at += length + next
	}
	return object, nonFinite, nil
}

// objectLength returns the length of the JSON object that text begins with, or
// 0 and the offset at which it stops being one. It is cut off when it is one up
// to the end of the text.
func objectLength(text []byte) (length, broken int, cut bool) {
	inside := bytes.TrimLeft(text[1:], " \t\r\n")
	if len(inside) == 0 || (inside[0] != '"' && inside[0] != '}') {
		return 0, len(text) - len(inside), false
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	var raw json.RawMessage
	err := decoder.Decode(&raw)
	if err == nil {
		return int(decoder.InputOffset()), 0, false
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && syntax.Offset > 0 {
		return 0, min(int(syntax.Offset)-1, len(text)), false
	}
	return 0, len(text), errors.Is(err, io.ErrUnexpectedEOF)
}

// unique is an error when an object of the text, which is valid JSON, has a key
// twice: readers do not agree on which of them counts.
func unique(object []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(object))
	var seen []map[string]bool // of the objects around a token; nil for a list
	isKey := false
	for {
		token, err := decoder.Token()
		if err != nil {
			return nil //nolint:nilerr // the end: the text is valid
		}
		switch token := token.(type) {
		case json.Delim:
			switch token {
			case '{':
				seen = append(seen, map[string]bool{})
			case '[':
				seen = append(seen, nil)
			default:
				seen = seen[:len(seen)-1]
			}
			isKey = len(seen) > 0 && seen[len(seen)-1] != nil
			continue
		case string:
			if isKey {
				keys := seen[len(seen)-1]
				if keys[token] {
					return fmt.Errorf("%w: its JSON has the key %q twice", ErrNoMetric, clip(token))
				}
				keys[token], isKey = true, false
				continue
			}
		}
		isKey = seen[len(seen)-1] != nil
	}
}

func names(numbers map[string]Value) string {
	if len(numbers) == 0 {
		return "none"
	}
	keys := make([]string, 0, len(numbers))
	for key := range numbers {
		keys = append(keys, clip(key))
	}
	slices.Sort(keys)
	const most = 12
	if len(keys) > most {
		keys = append(keys[:most], "…")
	}
	return strings.Join(keys, ", ")
}
