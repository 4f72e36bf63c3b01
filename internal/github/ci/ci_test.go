package ci_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/github/ci"
)

func check(name, conclusion string, lines ...string) ci.Check {
	status := "completed"
	if conclusion == "" {
		status = "in_progress"
	}
	return ci.Check{Name: name, Status: status, Conclusion: conclusion, Lines: lines}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		head, base []ci.Check
		want       ci.State
	}{
		"nothing is not green":         {nil, nil, ci.Pending},
		"one good one":                 {[]ci.Check{check("a", "success")}, nil, ci.Green},
		"neutral and skipped are good": {[]ci.Check{check("a", "neutral"), check("b", "skipped")}, nil, ci.Green},
		"one under way":                {[]ci.Check{check("a", "success"), check("b", "")}, nil, ci.Pending},
		"a failure":                    {[]ci.Check{check("a", "success"), check("b", "failure")}, nil, ci.Red},
		"timed out":                    {[]ci.Check{check("b", "timed_out")}, nil, ci.Red},
		"a failure and one under way":  {[]ci.Check{check("a", ""), check("b", "failure")}, nil, ci.Pending},
		"the base fails too":           {[]ci.Check{check("a", "success"), check("b", "failure")}, []ci.Check{check("b", "failure")}, ci.Green},
		"the base did not finish":      {[]ci.Check{check("b", "failure")}, []ci.Check{check("b", "")}, ci.Red},
		"only what the base fails":     {[]ci.Check{check("b", "failure")}, []ci.Check{check("b", "failure")}, ci.Pending},
		"cancelled":                    {[]ci.Check{check("a", "success"), check("b", "cancelled")}, nil, ci.Pending},
		"waits for a person":           {[]ci.Check{check("b", "action_required")}, nil, ci.Pending},
		"a word of tomorrow":           {[]ci.Check{check("a", "success"), check("b", "splendid")}, nil, ci.Pending},
		"completed without a word":     {[]ci.Check{{Name: "a", Status: "completed"}}, nil, ci.Pending},
		"a conclusion, not completed":  {[]ci.Check{{Name: "a", Status: "queued", Conclusion: "success"}}, nil, ci.Pending},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ci.Judge(c.head, c.base)
			assert.Equal(t, c.want, got.State, "%v", got.Reasons)
			assert.Equal(t, c.want == ci.Red, got.State == ci.Red && len(got.Failing) > 0)
			if c.want == ci.Pending {
				assert.NotEmpty(t, got.Reasons, "why")
			}
		})
	}
}

func TestTheSameFailureHasTheSameSignature(t *testing.T) {
	t.Parallel()
	one := ci.Judge([]ci.Check{check("test", "failure",
		"\x1b[31m2026-01-02T03:04:05.678Z /home/runner/work/a/b/x_test.go:12:4: error: expected 4, got 5\x1b[0m", "took 3.21s", "ok"), check("lint", "failure", "fail")}, nil)
	two := ci.Judge([]ci.Check{check("lint", "failure", "fail"), check("test", "failure",
		"2027-11-12 13:14:15 C:\\work\\x_test.go:99: error: expected 4, got 5", "took 9 ms")}, nil)
	assert.Equal(t, one.Signature(), two.Signature())
	assert.True(t, strings.HasPrefix(one.Signature(), "lint, test ("), one.Signature())
	other := ci.Judge([]ci.Check{check("test", "failure", "x_test.go: error: expected 4, got 6"), check("lint", "failure", "fail")}, nil)
	assert.NotEqual(t, one.Signature(), other.Signature())
}

func TestNormal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"main.go:12:3: undefined: x":                  "main.go: undefined: x",
		"/a/b/c.py line 12 in f":                      "c.py in f",
		"FAIL 12:30:01 in 3.5s":                       "FAIL in",
		"commit 0123456789abcdef at https://x.test/y": "commit at",
		"got 4, wanted 5":                             "got 4, wanted 5",
	} {
		assert.Equal(t, want, ci.Normal(text))
	}
}

func TestReportIsBounded(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf("line %d %s\x00\n", i, strings.Repeat("x", 1000)))
	}
	report := ci.Judge([]ci.Check{check("test", "failure", lines...)}, nil).Report()
	assert.Less(t, len(report), 8000)
	assert.True(t, strings.HasPrefix(report, "check test: failure\n  line 0 "))
	assert.NotContains(t, report, "\x00")
}

func FuzzSignature(f *testing.F) {
	f.Add("test", "error at /x/y.go:1")
	f.Fuzz(func(t *testing.T, name, text string) {
		v := ci.Judge([]ci.Check{check(name, "failure", strings.Split(text, "\n")...)}, nil)
		assert.NotContains(t, v.Signature(), "\n")
		assert.LessOrEqual(t, len([]rune(v.Signature())), 200)
	})
}
