package strategy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/loop/strategy"
)

// TestNamesOfFailingTests: lines as test runners print them, one by one, and lines that
// only look like them.
func TestNamesOfFailingTests(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"--- FAIL: TestA (0.00s)":                      "TestA",
		"\t    --- FAIL: TestA/a_b#01 (0.00s)":         "TestA/a_b#01",
		"--- PASS: TestA (0.00s)":                      "",
		"--- SKIP: TestA (0.00s)":                      "",
		"FAIL\texample.com/a\t0.1s":                    "",
		"it said --- FAIL: TestA":                      "",
		"FAILED a/test_b.py::test_c[x-1] - oh":         "a/test_b.py::test_c[x-1]",
		" FAILED a.py::b":                              "",
		"FAILED":                                       "",
		"not ok 1 - adds numbers":                      "adds numbers",
		"not ok 12 adds numbers":                       "adds numbers",
		"not ok 3 - later # TODO not yet":              "later",
		"not ok 3 - issue #12 is fixed":                "issue",
		"not ok - without a number":                    "",
		"ok 1 - adds numbers":                          "",
		"  ✕ adds numbers (3 ms)":                      "adds numbers",
		"   × adds numbers 12ms":                       "adds numbers",
		" ✗ adds numbers (1.5s)":                       "adds numbers",
		"✘ adds 3 numbers":                             "adds 3 numbers",
		"  ✓ adds numbers (3 ms)":                      "",
		"test a::b ... FAILED":                         "a::b",
		"test a::b ... ok":                             "",
		"test a::b ... FAILED (allowed)":               "",
		"test result: FAILED. 1 passed":                "",
		"FAIL: test_x (mod.Case)":                      "test_x (mod.Case)",
		"FAIL: test_x":                                 "test_x",
		"ERROR: test_y (mod.Case)":                     "test_y (mod.Case)",
		"ERROR: could not open the file":               "",
		"[  FAILED  ] Suite.Case (3 ms)":               "Suite.Case",
		"[  FAILED  ] Suite/Case.Of/2, where x = 1":    "",
		"[  FAILED  ] Suite.Case":                      "Suite.Case",
		"[  FAILED  ] 2 tests, listed below:":          "",
		"[       OK ] Suite.Case (0 ms)":               "",
		"{\"failing\": \"a\"}":                         "",
		"{\"failing\": [1]}":                           "",
		"{\"failing\": null}":                          "",
		"[\"failing\"]":                                "",
		"{\"failing\": [\"a\"]":                        "",
		"{\"failing\": [\"a\"]} and more":              "",
		"\t {\"failing\": [\"a\"]} ":                   "a",
		"{\"passed\": 1, \"failing\": [\" a\\tb  \"]}": "a b",
	} {
		var wanted []string
		if want != "" {
			wanted = []string{want}
		}
		for _, end := range []string{"", "\n", "\r\n"} {
			assert.Equal(t, wanted, strategy.FailingTests("something\n"+line+end), "%q", line+end)
		}
	}
}
