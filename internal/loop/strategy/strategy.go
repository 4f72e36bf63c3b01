// Package strategy decides what the proposals of an iteration grow from and what
// they work on. A strategy is one value in one file, registered by its name in
// All. It is pure: chance comes from seeds, and the past from the records.
package strategy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// Population is what a strategy selects parents from, for one proposal.
type Population struct {
	// Members are candidates of the past with their metrics and patches, in the order of their
	// measurements.
	Members   []*history.Proposed
	Direction metric.Direction
	// Seed, Iteration and Proposal are all that chance may come from.
	Seed                int64
	Iteration, Proposal int
}

// Offspring is what one proposal grows from.
type Offspring struct {
	// Parent is nil for the incumbent.
	Parent *history.Proposed
	// Inspirations are others, the most useful first.
	Inspirations []*history.Proposed
}

// Named is one way to search, under its name.
type Named struct {
	Name string
	// Evolves says that rejected candidates can be parents: their changes are
	// kept, and a plateau takes more attempts.
	Evolves bool
	// SelectParents says which of the past's candidates one proposal grows from.
	SelectParents func(Population) Offspring
	// Focus picks the failing test that an iteration works on, "" for none. Output
	// is what the incumbent's evaluation printed; earlier holds the focus of each
	// attempt so far, oldest first, "" for one without a focus.
	Focus func(output string, earlier []string) string
}

// Table is a list of strategies.
type Table []Named

// All returns the strategies that a program can ask for. A new one is a file
// beside this one, and a line here.
func All() Table {
	return Table{
		{"openevolve", true, Openevolve, nothing},
		{"test-driven", false, incumbent, TestDriven},
	}
}

// Names are the names, in order.
func (t Table) Names() []string {
	return lists.Map(t, func(one Named) string { return one.Name })
}

// Named finds a strategy. For any other name it returns the one that changes the
// incumbent and works on nothing in particular.
func (t Table) Named(name string) Named {
	if at := slices.IndexFunc(t, func(e Named) bool { return e.Name == name }); at >= 0 {
		return t[at]
	}
	return Named{SelectParents: incumbent, Focus: nothing}
}

func incumbent(Population) Offspring { return Offspring{} }

func nothing(string, []string) string { return "" }

// perFocus is how many attempts in a row one failing test gets before another
// one has its turn.
const perFocus = 3

// maxFailing bounds the failing tests that are told apart.
const maxFailing = 200

// failures match the lines in which test runners name a test that failed.
var failures = []string{
	`^\s*--- FAIL: (\S+)`,                               // go test
	`^FAILED (\S+)`,                                     // pytest
	`^not ok \d+ (?:- )?(.+?)(?:\s+#.*)?$`,              // TAP, node --test
	`^\s*[✕✗✘×] (.+?)(?: \(?\d+(?:\.\d+)? ?m?s\)?)?$`,   // jest, mocha, vitest
	`^test (\S+) \.\.\. FAILED$`,                        // cargo test
	`^(?:FAIL|ERROR): (\S+ \(\S+\)|\S+)$`,               // unittest
	`^\s*\[\s*FAILED\s*\] ([^\s,]+)(?: \(\d+ ms\))?,?$`, // googletest
}

// FailingTests finds the tests that failed in what an evaluation printed: the
// list of texts under the key "failing" of a JSON object on a line of its own,
// else the lines in which well-known test runners name them. They are in the
// order of the output, each once.
func FailingTests(output string) []string {
	var found []string
	add := func(names ...string) {
		for _, name := range names {
			name = plain.Spaced(name)
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
			if match := lazyregexp.Of(pattern)().FindStringSubmatch(line); match != nil {
				add(match[1])
				break
			}
		}
	}
	return found
}

// TestDriven works on one failing test after the other. It stays with the last test
// until it passes or three attempts in a row were made on it; then comes the test with
// the fewest attempts, the first of them in the output.
func TestDriven(output string, earlier []string) string {
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
