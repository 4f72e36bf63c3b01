package strategy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/loop/strategy"
)

func TestFailingTests(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		output string
		want   []string
	}{
		"JSON":       {"--- FAIL: TestA\n{\"passed\": 3, \"failing\": [\"b\", \"a\", \"b\"]}\r\n", []string{"b", "a"}},
		"none left":  {"--- FAIL: TestOld\n{\"failing\": []}\n", nil},
		"other JSON": {"{\"passed\": 3}\n--- FAIL: TestA (0.00s)", []string{"TestA"}},
		"nothing":    {"all is well\n", nil},
	}
	for name, c := range cases {
		assert.Equal(t, c.want, strategy.FailingTests(c.output), name)
	}
	assert.Len(t, strategy.FailingTests(strings.Repeat("x\n", 3)+many(500)), 200)
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("FAILED t" + strings.Repeat("x", i) + "\n")
	}
	return b.String()
}

// focus is what the strategy picks after an evaluation with these failing tests.
func focus(failing, earlier []string) string {
	output, err := json.Marshal(map[string][]string{"failing": failing})
	if err != nil {
		panic(err)
	}
	return strategy.TestDriven(string(output), earlier)
}

func TestFocus(t *testing.T) {
	t.Parallel()
	failing := []string{"a", "b", "c"}
	cases := []struct {
		name, earlier, want string
	}{
		{"first", "", "a"},
		{"goes on", "a", "a"},
		{"goes on twice", "a a", "a"},
		{"three are enough", "a a a", "b"},
		{"the next", "a a a b b b", "c"},
		{"fewest attempts", "a a a b b b c c c", "a"},
		{"passed in the meantime", "x", "a"},
		{"passed, with others tried before", "a a a x", "b"},
		{"again from the first", "a a a b b b c c c a", "a"},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, focus(failing, strings.Fields(c.earlier)), c.name)
	}
	assert.Empty(t, focus(nil, []string{"a"}))
	assert.Equal(t, "a", focus([]string{"a"}, []string{"a", "a", "a"}), "the only one goes on")
}

func FuzzFailingTests(f *testing.F) {
	f.Add("--- FAIL: TestA (0.00s)\nnot ok 1 -  \n{\"failing\": [\" \", \"x\"]}")
	f.Fuzz(func(t *testing.T, output string) {
		for _, name := range strategy.FailingTests(output) {
			assert.NotContains(t, name, "\n")
			assert.NotEmpty(t, name)
		}
	})
}

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
