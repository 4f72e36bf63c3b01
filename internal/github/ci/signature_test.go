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

// judged is the verdict on a commit of a branch without rules, whose base has no CI.
func judged(head []ci.Check) ci.Result {
	return ci.Judge(ci.Input{Head: ci.Reading{Checks: head}})
}

func TestSameFailureSameSignature(t *testing.T) {
	t.Parallel()
	one := judged([]ci.Check{check("test", "failure",
		"\x1b[31m2026-01-02T03:04:05.678Z /home/runner/work/a/b/x_test.go:12:4: error: expected 4, got 5\x1b[0m",
		"took 3.21s", "ok"), check("lint", "failure", "fail")})
	two := judged([]ci.Check{
		check("lint", "failure", "fail"),
		check("test", "failure", "2027-11-12 13:14:15 C:\\work\\x_test.go:99: error: expected 4, got 5", "took 9 ms"),
	})
	assert.Equal(t, one.Signature(), two.Signature())
	assert.True(t, strings.HasPrefix(one.Signature(), "lint, test ("), one.Signature())
	other := judged([]ci.Check{
		check("test", "failure", "x_test.go: error: expected 4, got 6"),
		check("lint", "failure", "fail"),
	})
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
	verdict := judged([]ci.Check{check("test", "failure", lines...)})
	report := verdict.Report()
	assert.Less(t, len(report), 8000)
	assert.True(t, strings.HasPrefix(report, "check test: failure\n  line 0 "))
	assert.NotContains(t, report, "\x00")
}

func FuzzSignature(f *testing.F) {
	f.Add("test", "error at /x/y.go:1")
	f.Fuzz(func(t *testing.T, name, text string) {
		v := judged([]ci.Check{check(name, "failure", strings.Split(text, "\n")...)})
		assert.NotContains(t, v.Signature(), "\n")
		assert.LessOrEqual(t, len([]rune(v.Signature())), 200)
	})
}
