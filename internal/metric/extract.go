package metric

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
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

// Extract reads the metric from the standard output of an evaluation: without a key its last
// line where that is a bare number, else the last JSON object (it may span lines).
// With key the object's number of that name counts (dots for nesting), without
// it the object's only number. An object that is cut off at the end, or that has
// a key twice, is an error. The error wraps ErrNoMetric or ErrNotFinite.
func Extract(stdout []byte, key string) (Measurement, error) {
	return scanned(stdout).measurement(stdout, key)
}

// ExtractEnd is Extract for an output whose beginning was cut off: an object that may be
// a part of one that began there is an error.
func ExtractEnd(end []byte, key string) (Measurement, error) {
	found := scanned(end)
	after := bytes.TrimLeft(end[found.end:], " \t\r\n")
	within := len(after) > 0 && strings.IndexByte(",]}", after[0]) >= 0 // these follow an object within JSON
	if found.err == nil && found.object != nil && within {
		return Measurement{}, fmt.Errorf(
			"%w: it printed so much that the beginning of its last JSON object is cut off; print it on a line of its "+
				"own, after the rest", ErrNoMetric)
	}
	return found.measurement(end, key)
}

// ExtractOne is Extract for a file that holds one result: a second object in it, or
// a number on a line of its own beside another result, is an error. Whoever shares
// the file with the code under test is not taken in by what that prints.
func ExtractOne(text []byte, key string) (Measurement, error) {
	found := scanned(text)
	if found.results > 1 {
		return Measurement{}, fmt.Errorf(
			"%w: it has more than one result; write one there, and nothing of what the code under test prints",
			ErrNoMetric)
	}
	return found.measurement(text, key)
}

// scan is what an output has.
type scan struct {
	// object is the last complete JSON object, nil for none, and end where it ends.
	object []byte
	end    int
	// nonFinite says that after it one was broken by a NaN or an infinity.
	nonFinite bool
	results   int // objects, and lines outside of them that are numbers
	err       error
}

// scanned looks at an output from its beginning to its end.
func scanned(out []byte) (s scan) {
	budget := max(scanFactor*len(out), minScan)
	for from := 0; ; {
		next := bytes.IndexByte(out[from:], '{')
		between := out[from:]
		if next >= 0 {
			between = between[:next]
		}
		for line := range bytes.Lines(between) {
			if _, err := ParseValue(string(bytes.TrimSpace(line))); err == nil {
				s.results++
			}
		}
		if next < 0 {
			return s
		}
		rest := out[from+next:]
		length, broken, cut := objectLength(rest)
		switch {
		case cut:
			s.err = fmt.Errorf("%w: its last JSON object is cut off; print it whole, on a line of its own", ErrNoMetric)
			return s
		case length > 0:
			s.object, s.end, s.nonFinite = rest[:length], from+next+length, false
			s.results++
		default:
			s.nonFinite = s.nonFinite || nonFiniteToken().Match(rest[broken:])
		}
		if budget -= max(broken, 64); broken > 0 && budget < 0 {
			s.err = fmt.Errorf(
				"%w: too many unclosed braces to search; print the JSON object last, on a line of its own", ErrNoMetric)
			return s
		}
		from += next + max(length, 1)
	}
}

func (s scan) measurement(out []byte, key string) (Measurement, error) {
	switch {
	case s.err != nil:
		return Measurement{}, s.err
	case s.nonFinite:
		return Measurement{}, fmt.Errorf("the last JSON object has a NaN or an infinity: %w", ErrNotFinite)
	}
	if last, err := bareNumber(out[s.end:]); s.object == nil || key == "" && err == nil {
		return last, err // without a key what is printed last counts
	}
	decoder := json.NewDecoder(bytes.NewReader(s.object))
	decoder.UseNumber()
	found := leaves{found: map[string]leaf{}}
	if err := found.read(decoder, "", 0); err != nil {
		return Measurement{}, err
	}
	return found.measurement(key)
}

func bareNumber(stdout []byte) (Measurement, error) {
	text := bytes.TrimSpace(stdout)
	text = bytes.TrimSpace(text[bytes.LastIndexByte(text, '\n')+1:])
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

// leaves are what an object has, at any depth, by dotted keys. Of a name with dots in it
// and the same one by nesting the one that is less deep counts.
type leaves struct {
	found          map[string]leaf
	numbers, nulls int
}

// leaf is a number, a text, a truth or nil, or the beginning of an object or a list.
type leaf struct {
	json.Token
	depth int
}

// read reads the value that comes next in a text that is valid. A key that is there twice is
// an error, since readers do not agree on which of them counts.
func (l *leaves) read(decoder *json.Decoder, name string, depth int) error {
	token, _ := decoder.Token()
	if depth > 0 {
		if before, known := l.found[name]; !known || depth < before.depth {
			l.found[name] = leaf{token, depth}
		}
		name += "."
	}
	switch token {
	case nil:
		l.nulls++
	case json.Delim('['): // nothing in a list is a metric
		l = &leaves{found: map[string]leaf{}}
	}
	if _, is := token.(json.Number); is {
		l.numbers++
	}
	if _, opens := token.(json.Delim); !opens {
		return nil
	}
	seen := map[json.Token]bool{}
	for decoder.More() {
		item := name
		if token == json.Delim('{') {
			key, _ := decoder.Token()
			if item += fmt.Sprint(key); seen[key] {
				return fmt.Errorf("%w: its JSON has the key %q twice", ErrNoMetric, clip(fmt.Sprint(key)))
			}
			seen[key] = true
		}
		if err := l.read(decoder, item, depth+1); err != nil {
			return err
		}
	}
	_, err := decoder.Token()
	return err
}

// measurement takes the metric of a key, or the only number.
func (l *leaves) measurement(key string) (m Measurement, err error) {
	m.Numbers = map[string]Value{}
	m.RejectedReason, _ = l.found["rejected_reason"].Token.(string)
	for _, name := range slices.Sorted(maps.Keys(l.found)) {
		text, is := l.found[name].Token.(json.Number)
		if !is {
			continue
		}
		number, err := ParseValue(text.String())
		if err != nil {
			return Measurement{}, fmt.Errorf("key %q: %w", name, err)
		}
		if len(m.Numbers) < maxNumbers {
			m.Numbers[name] = number
		}
		if key == "" && l.numbers == 1 || key != "" && name == key {
			m.Metric = &number
		}
	}
	found, there := l.found[key]
	switch {
	case m.Metric != nil, key != "" && there && found.Token == nil, key == "" && l.numbers == 0 && l.nulls == 1:
		return m, nil
	case key == "" && l.numbers == 0:
		err = fmt.Errorf("%w: its JSON has no number", ErrNoMetric)
	case key == "":
		err = fmt.Errorf("%w: its JSON has %d numbers (%s); say which with `metric:`", ErrNoMetric, l.numbers,
			names(m.Numbers))
	case there:
		err = fmt.Errorf("%w: key %q of its JSON is no number", ErrNoMetric, key)
	default:
		err = fmt.Errorf("%w: no key %q in its JSON (numbers there: %s)", ErrNoMetric, key, names(m.Numbers))
	}
	return Measurement{}, err
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

func names(numbers map[string]Value) string {
	return cmp.Or(plain.Joined(slices.Sorted(maps.Keys(numbers)), plain.Few, clip), "none")
}
