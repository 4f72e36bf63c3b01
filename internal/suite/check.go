package suite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/plain"
)

// OutputsDir is the directory of a sandbox in which the results of a case belong.
const OutputsDir = "outputs"

// CheckKind says what a check looks at, in the word of its format.
type CheckKind string

// The kinds of checks.
const (
	// Of an eval suite; all but ShellCommand look at one file below `outputs/`.
	JSONValid         CheckKind = "json_valid"
	JSONFieldEquals   CheckKind = "json_field_equals"
	JSONFieldExists   CheckKind = "json_field_exists"
	JSONFieldAbsent   CheckKind = "json_field_absent"
	JSONFieldMatches  CheckKind = "json_field_matches"
	JSONFieldCount    CheckKind = "json_field_count"
	JSONArrayContains CheckKind = "json_array_contains"
	OutputExists      CheckKind = "file_exists"
	OutputNotExists   CheckKind = "file_not_exists"
	OutputContains    CheckKind = "file_contains"
	OutputNotContains CheckKind = "file_not_contains"
	OutputMatches     CheckKind = "regex_match"
	ShellCommand      CheckKind = "shell_command"
	// ExactAnswer is of questions: the file is the text, whatever the case and the blanks
	// around it.
	ExactAnswer CheckKind = "answer"

	// Of a task suite, in the whole sandbox.
	CommandCheck    CheckKind = "command"
	TestSuiteCheck  CheckKind = "testSuite"
	FileExists      CheckKind = "fileExists"
	FileContains    CheckKind = "fileContains"
	FileNotContains CheckKind = "fileNotContains"
	RegexMatch      CheckKind = "regexMatch"
	// DiffContains looks at the agent's diff.
	DiffContains CheckKind = "diffContains"
)

// Check is one thing to verify without a model; only the fields of its kind are set.
type Check struct {
	Kind CheckKind
	// Description is the suite's own name for the check, "" for none.
	Description string
	// File is a clean path with slashes from `outputs/`, or from the sandbox's root.
	File string
	// Path leads to a value in a JSON file; PathText is how the suite writes it.
	Path     JSONPath
	PathText string
	// Value is what JSONFieldEquals and JSONArrayContains look for: what
	// encoding/json makes of a JSON value, with numbers as json.Number.
	Value any
	// Partial says that JSONArrayContains takes an entry that has all that Value
	// says, and more.
	Partial bool
	// Operator and Count are of JSONFieldCount: eq, ne, gt, gte, lt or lte.
	Operator string
	Count    int
	// Text is looked for byte for byte, and is never empty.
	Text string
	// Pattern is compiled, in Go's (RE2) syntax.
	Pattern *regexp.Regexp
	// Command passes on exit code 0, or where Fails on any other. One that was killed, is
	// not found or takes longer than Timeout, which is 0 for what is left of a task's time,
	// never passes.
	Command string
	Fails   bool
	Timeout time.Duration
}

// Subject is what the check looks at or for, without a path: its command, file or text.
func (c Check) Subject() string { return cmp.Or(c.Command, c.File, c.Text) }

// Label names the check in gradings: its description, else what it looks at.
func (c Check) Label() string {
	if c.Description != "" {
		return c.Description
	}
	label := string(c.Kind)
	if c.File != "" {
		label += " " + c.File
	}
	if len(c.Path) > 0 || c.Kind.Reads() {
		label += " " + c.Path.String()
	}
	switch {
	case c.Kind == JSONArrayContains && c.Partial:
		label += " match " + jsonText(c.Value)
	case c.Kind == JSONArrayContains, c.Kind == JSONFieldEquals:
		label += " " + jsonText(c.Value)
	case c.Kind == JSONFieldCount:
		label += fmt.Sprintf(" %s %d", c.Operator, c.Count)
	case c.Pattern != nil:
		label += fmt.Sprintf(" %q", c.Pattern)
	case c.Text+c.Command != "":
		label += fmt.Sprintf(" %q", c.Text+c.Command)
	}
	return label
}

// Reads reports whether a check follows a path into a JSON file.
func (k CheckKind) Reads() bool {
	return strings.HasPrefix(string(k), "json_") && k != JSONValid
}

// Found is what stands at a check's path, which messages call Name.
type Found struct {
	Name string
	// Exists is for whatever is there. Problem says why a file that is there cannot
	// be read, or of one that is not, why nothing is known; else it is "".
	Exists  bool
	Problem string
	Data    []byte
}

// Verdict answers a check that looks at a file; evidence says in one line what
// was seen.
func (c Check) Verdict(found Found) (passed bool, evidence string) {
	said := "there is no " + found.Name
	if found.Exists {
		said = found.Name + " is there"
	}
	switch {
	case !found.Exists && found.Problem != "":
		return false, found.Problem
	case c.Kind == OutputNotExists:
		return !found.Exists, said
	case !found.Exists, c.Kind == OutputExists, c.Kind == FileExists:
		return found.Exists, said
	case found.Problem != "":
		return false, found.Name + ": " + found.Problem
	}
	switch c.Kind {
	case ExactAnswer: // What is right is not said: whoever improves the skill would write it down there.
		text := strings.TrimSpace(strings.TrimPrefix(string(found.Data), "\ufeff"))
		switch {
		case text == "":
			return false, found.Name + " is empty"
		case strings.EqualFold(text, c.Text):
			return true, "it is the answer"
		}
		return false, "the answer is not " + Quote(text)
	case OutputMatches, RegexMatch:
		if why := c.costly(len(found.Data)); why != "" {
			return false, found.Name + " " + why
		}
		if at := c.Pattern.FindIndex(found.Data); at != nil {
			return true, "matches: " + Quote(string(found.Data[at[0]:at[1]]))
		}
		return false, "nothing matches " + Quote(c.Pattern.String())
	case OutputContains, FileContains, OutputNotContains, FileNotContains, DiffContains:
		there := bytes.Contains(found.Data, []byte(c.Text))
		evidence = "does not contain "
		if there {
			evidence = "contains "
		}
		wanted := c.Kind != OutputNotContains && c.Kind != FileNotContains
		return there == wanted, evidence + Quote(c.Text)
	default:
		return c.json(found)
	}
}

// json looks at a value of the file.
func (c Check) json(found Found) (passed bool, evidence string) {
	root, err := decodeJSON(found.Data)
	if err != nil {
		return false, found.Name + " is not JSON: " + plain.Short(err.Error(), MaxShown)
	}
	if c.Kind == JSONValid {
		return true, "it is JSON"
	}
	value, there := c.Path.Find(root)
	switch {
	case !there:
		return c.Kind == JSONFieldAbsent, "there is no " + c.PathText
	case value == nil && (c.Kind == JSONFieldAbsent || c.Kind == JSONFieldExists): // null says that there is no value
		return c.Kind == JSONFieldAbsent, c.PathText + " is null"
	case c.Kind == JSONFieldAbsent:
		return false, c.PathText + " is there: " + jsonText(value)
	}
	if text, ok := scalarText(value); ok && c.Kind == JSONFieldMatches {
		if why := c.costly(len(text)); why != "" {
			return false, c.PathText + " " + why
		}
	}
	return c.holds(value), c.PathText + " is " + jsonText(value)
}

// holds answers a check of a value that is there.
func (c Check) holds(value any) bool {
	switch c.Kind {
	case JSONFieldEquals:
		return sameJSON(value, c.Value)
	case JSONFieldMatches:
		text, ok := scalarText(value)
		return ok && c.Pattern.MatchString(text)
	case JSONFieldCount:
		list, ok := value.([]any)
		object, is := value.(map[string]any)
		count := len(list) + len(object)
		return (ok || is) && slices.Contains(countOperators[c.Operator], cmp.Compare(count, c.Count))
	case JSONArrayContains:
		list, _ := value.([]any)
		return slices.ContainsFunc(list, func(item any) bool {
			return sameJSON(item, c.Value) || c.Partial && containsJSON(item, c.Value)
		})
	default: // JSONFieldExists
		return true
	}
}

// scalarText is a value that a pattern can be held against.
func scalarText(value any) (string, bool) {
	switch value := value.(type) {
	case string, json.Number, bool:
		return fmt.Sprint(value), true
	default:
		return "", false
	}
}

// countOperators are those of JSONFieldCount, with how a count may compare.
var countOperators = map[string][]int{"eq": {0}, "ne": {-1, 1}, "gt": {1}, "gte": {0, 1}, "lt": {-1}, "lte": {-1, 0}}

// decodeJSON reads one JSON value with exact numbers, and nothing behind it.
func decodeJSON(data []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	decoder.UseNumber()
	if err = decoder.Decode(&value); err == nil {
		if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
			return nil, errors.New("something follows its end")
		}
	}
	return value, err
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
	if err != nil || len(program.Inst) <= maxMatching/max(size, 1) {
		return ""
	}
	return fmt.Sprintf("has %d bytes, too many for a pattern of %d steps; make the output or the pattern smaller", size,
		len(program.Inst))
}
