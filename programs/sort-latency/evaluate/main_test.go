package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestParseTakesTwoNumbersAndNothingElse(t *testing.T) {
	t.Parallel()
	scored, err := parse("1234.5 0.250\n")
	if err != nil || *scored.Nanoseconds != 1234.5 || *scored.Allocations != 0.25 {
		t.Errorf("%+v, %v", scored, err)
	}
	for _, output := range []string{
		"", "1", "1 2 3", "NaN 1", "1 NaN", "Inf 0", "-1 0", "1 -1", "0 0", "1e400 0", "1e13 0", "a b", `{"ns_per_op": 1}`, "1 2\n1 2",
	} {
		if scored, err := parse(output); err == nil {
			t.Errorf("%q is %+v", output, scored)
		}
	}
}

func TestExampleScores(t *testing.T) {
	t.Parallel()
	scored, err := evaluate(filepath.Join("..", "sorting"), time.Minute)
	if err != nil || scored.Nanoseconds == nil || *scored.Nanoseconds <= 0 || *scored.Allocations != 0 {
		t.Errorf("the start is %+v, %v", scored, err)
	}
}

// insertion is an honest sort.
const insertion = `
	for i := range values {
		for at := i; at > 0 && values[at-1] > values[at]; at-- {
			values[at-1], values[at] = values[at], values[at-1]
		}
	}
`

func TestAllocationsAreCounted(t *testing.T) {
	t.Parallel()
	scored := candidate(t, "var kept [][]int\n\nfunc Sort(values []int) {\n"+insertion+"\nkept = [][]int{append([]int(nil), values...)}\n}\n", time.Minute)
	// The runtime allocates now and then itself.
	if scored.Allocations == nil || *scored.Allocations < 2 || *scored.Allocations > 2.1 {
		t.Errorf("%+v", scored)
	}
}

// TestEveryMarkSorts: the tuner may put together any constants.
func TestEveryMarkSorts(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "sorting", "sort.go"))
	if err != nil {
		t.Fatal(err)
	}
	start := regexp.MustCompile(`cutoff = \d+|gap    = \d+|sample = \d+`)
	for _, values := range [][3]int{{2, 1, 1}, {2, 64, 31}, {2048, 64, 31}, {24, 5, 2}} {
		t.Run(fmt.Sprint(values), func(t *testing.T) {
			t.Parallel()
			changed := 0
			code := start.ReplaceAllStringFunc(string(text), func(found string) string {
				changed++
				return fmt.Sprint(found[:9], values[changed-1])
			})
			if changed != 3 {
				t.Fatalf("%d constants", changed)
			}
			if scored := candidate(t, strings.TrimPrefix(code, "package main\n"), time.Minute); scored.Nanoseconds == nil {
				t.Errorf("%+v", scored)
			}
		})
	}
}

// TestHostileSorts builds and runs sorts that do not play by the rules.
func TestHostileSorts(t *testing.T) {
	t.Parallel()
	const wrong = "a slice is not in order, or has other values than before"
	for name, c := range map[string]struct{ source, reason string }{
		"does nothing":        {"func Sort([]int) {}", wrong},
		"makes zeros":         {"func Sort(values []int) { clear(values) }", wrong},
		"counts up":           {"func Sort(values []int) { for i := range values { values[i] = i } }", wrong},
		"repeats a value":     {"func Sort(values []int) {" + insertion + "if len(values) > 500 { values[400] = values[401] } }", wrong},
		"sorts edges only":    {"var calls int\n\nfunc Sort(values []int) { if calls++; calls < 20 {" + insertion + "} }", wrong},
		"puts work off":       {"var kept []int\n\nfunc Sort(now []int) { values := kept; if len(now) < 1000 || kept == nil { values = now }; kept = now;" + insertion + "}", wrong},
		"asks the library":    {"import `slices`\n\nfunc Sort(values []int) { slices.Sort(values) }", "may not import `slices`"},
		"stops the clock":     {"import `time`\n\nfunc Sort(values []int) { _ = time.Now }", "may not import `time`"},
		"other clock":         {"func Sort([]int) { start = start.Add(1) }", "undefined: start"},
		"fewer rounds":        {"const rounds = 0\n\nfunc Sort([]int) {}", wrong},
		"works in background": {"func Sort(values []int) { go func() {" + insertion + "}() }", "may not start goroutines"},
		"exits at once":       {"import `os`\n\nfunc Sort(values []int) { os.Exit(0) }", "may not import `os`"},
		"prints the result":   {"func Sort(values []int) { println(`{\"ns_per_op\": 1}`); panic(0) }", "it failed: exit status 2"},
		"fills the screen":    {"func Sort(values []int) { for { println(`more and more`) } }", "it printed too much"},
		"hangs":               {"func Sort(values []int) { for {} }", "it took longer than 1s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if name == "hangs" {
				limit = time.Second
			}
			if scored := candidate(t, c.source, limit); scored.Nanoseconds != nil || !strings.Contains(scored.Reason, c.reason) {
				t.Errorf("%+v; not %q", scored, c.reason)
			}
		})
	}
}

// candidate evaluates a sort with this code.
func candidate(t *testing.T, code string, limit time.Duration) result {
	t.Helper()
	dir := t.TempDir()
	trusted, err := os.ReadFile(filepath.Join("..", "sorting", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"main.go": string(trusted), "sort.go": "package main\n\n" + code} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	scored, err := evaluate(dir, limit)
	if err != nil {
		t.Fatal(err)
	}
	return scored
}
