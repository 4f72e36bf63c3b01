package strategy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// perFocus is how many attempts in a row one failing test gets before another
// one has its turn.
const perFocus = 3

// maxFailing bounds the failing tests that are told apart.
const maxFailing = 200

// failures match the lines in which test runners name a test that failed.
var failures = []lazyregexp.Regexp{
	lazyregexp.New(`^\s*--- FAIL: (\S+)`),                               // go test
	lazyregexp.New(`^FAILED (\S+)`),                                     // pytest
	lazyregexp.New(`^not ok \d+ (?:- )?(.+?)(?:\s+#.*)?$`),              // TAP, node --test
	lazyregexp.New(`^\s*[✕✗✘×] (.+?)(?: \(?\d+(?:\.\d+)? ?m?s\)?)?$`),   // jest, mocha, vitest
	lazyregexp.New(`^test (\S+) \.\.\. FAILED$`),                        // cargo test
	lazyregexp.New(`^(?:FAIL|ERROR): (\S+ \(\S+\)|\S+)$`),               // unittest
	lazyregexp.New(`^\s*\[\s*FAILED\s*\] ([^\s,]+)(?: \(\d+ ms\))?,?$`), // googletest
}

// FailingTests finds the tests that failed in what an evaluation printed: the
// list of texts under the key "failing" of a JSON object on a line of its own,
// else the lines in which well-known test runners name them. They are in the
// order of the output, each once.
func FailingTests(output string) []string {
	var found []string
	add := func(names ...string) {
		for _, name := range names {
			name = strings.Join(strings.Fields(name), " ")
			if name != "" && len(found) < maxFailing && !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	}
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		var result struct {
			Failing []string `json:"failing"`
		}
		if strings.HasPrefix(strings.TrimSpace(line), "{") && json.Unmarshal([]byte(line), &result) == nil &&
			result.Failing != nil {
			found = nil
			add(result.Failing...)
			break
		}
		for _, pattern := range failures {
			if match := pattern().FindStringSubmatch(line); match != nil {
				add(match[1])
				break
			}
		}
	}
	return found
}

// TestDriven works on one failing test after the other.
type TestDriven struct{ Incumbent }

// Focus stays with the last test until it passes or three attempts in a row were
// made on it; then comes the test with the fewest attempts, the first of them in
// the output.
func (TestDriven) Focus(output string, earlier []string) string {
	failing := FailingTests(output)
	if len(failing) == 0 {
		return ""
	}
	counts, last, inARow := map[string]int{}, "", 0
	for _, name := range earlier {
		counts[name]++
		if name != last {
			last, inARow = name, 0
		}
		inARow++
	}
	if slices.Contains(failing, last) && inARow%perFocus != 0 {
		return last
	}
	return slices.MinFunc(failing, func(a, b string) int { return counts[a] - counts[b] })
}
