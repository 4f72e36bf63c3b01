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
	return strategy.TestDriven{}.Focus(string(output), earlier)
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
