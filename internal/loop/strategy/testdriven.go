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
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		var result struct {
			Failing []string `json:"failing"`
		}
		if strings.HasPrefix(strings.TrimSpace(line), "{") && json.Unmarshal([]byte(line), &result) == nil &&
			result.Failing != nil {
			found = slices.Clone(result.Failing)
			break
		}
		for _, pattern := range failures {
			if match := pattern().FindStringSubmatch(line); match != nil {
				found = append(found, match[1])
				break
			}
		}
	}
	return distinct(found)
}

func distinct(names []string) []string {
	var list []string
	seen := map[string]bool{}
	for _, name := range names {
		if name = strings.Join(strings.Fields(name), " "); name != "" && !seen[name] && len(list) < maxFailing {
			seen[name] = true
			list = append(list, name)
		}
	}
	return list
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
	if last := len(earlier) - 1; last >= 0 && slices.Contains(failing, earlier[last]) && inARow(earlier)%perFocus != 0 {
		return earlier[last]
	}
	counts := map[string]int{}
	for _, name := range earlier {
		counts[name]++
	}
	return slices.MinFunc(failing, func(a, b string) int { return counts[a] - counts[b] })
}

// inARow is how many of the last attempts were on the same test.
func inARow(earlier []string) int {
	count := 0
	for _, name := range slices.Backward(earlier) {
		if name != earlier[len(earlier)-1] {
			break
		}
		count++
	}
	return count
}
