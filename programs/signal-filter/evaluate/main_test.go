package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSeriesAreTheSameEveryTimeAndDiffer(t *testing.T) {
	t.Parallel()
	one := makeSeries(1)
	if !slices.Equal(one.seen, makeSeries(1).seen) {
		t.Error("seed 1 gives two series")
	}
	if slices.Equal(one.seen, makeSeries(2).seen) {
		t.Error("seeds 1 and 2 give one series")
	}
}

// delayed is the truth, a number of samples late.
func delayed(s series, by int) []float64 {
	answer := make([]float64, samples)
	for i := range answer {
		answer[i] = s.truth[max(i-by, 0)]
	}
	return answer
}

func TestScore(t *testing.T) {
	t.Parallel()
	s := makeSeries(3)
	for name, c := range map[string]struct {
		answer       []float64
		clarity, lag float64
	}{
		"what was seen": {s.seen, 0, 0},
		"the truth":     {s.truth, 116.2, 0},
		"late":          {delayed(s, 7), 116.2, 7},
		"too late":      {delayed(s, latest), 116.2, latest},
	} {
		clarity, lag := scoreSeries(s, c.answer)
		if math.Abs(clarity-c.clarity) > 0.5 || math.Abs(lag-c.lag) > 0.2 {
			t.Errorf("%s: clarity %v, lag %v", name, clarity, lag)
		}
	}
	between := make([]float64, samples)
	for i := range between {
		between[i] = (delayed(s, 3)[i] + delayed(s, 4)[i]) / 2
	}
	if _, lag := scoreSeries(s, between); math.Abs(lag-3.5) > 0.1 {
		t.Errorf("between 3 and 4: lag %v", lag)
	}
	if clarity, lag := scoreSeries(s, make([]float64, samples)); clarity > 0 || math.IsNaN(lag) {
		t.Errorf("silence: clarity %v, lag %v", clarity, lag)
	}
}

// TestWaitingClears: the guardrail has something to hold, because a filter that
// only waits longer is clearer.
func TestWaitingClears(t *testing.T) {
	t.Parallel()
	s := makeSeries(1)
	smooth := func(weight float64) (clarity, lag float64) {
		answer, level := make([]float64, samples), s.seen[0]
		for i, x := range s.seen {
			level += weight * (x - level)
			answer[i] = level
		}
		return scoreSeries(s, answer)
	}
	quick, early := smooth(0.6)
	slow, late := smooth(0.1)
	if !(slow > quick+3 && late > early+4) {
		t.Errorf("quick: %v at %v; slow: %v at %v", quick, early, slow, late)
	}
}

func TestParseTakesOneNumberASample(t *testing.T) {
	t.Parallel()
	good := strings.Repeat("1e-3\n", 2*samples)
	answers, err := parse(good, 2)
	if err != nil || len(answers) != 2 || len(answers[1]) != samples || answers[1][samples-1] != 1e-3 {
		t.Errorf("%v", err)
	}
	for name, output := range map[string]string{
		"nothing": "", "one missing": good[5:], "one more": good + "1\n", "an empty line": "\n" + good[5:],
		"NaN": "NaN\n" + good[5:], "infinite": "-Inf\n" + good[5:], "enormous": "1e7\n" + good[5:],
		"two on a line": "1 2\n" + good[5:], "a result": good[5:] + `{"clarity": 99}` + "\n",
	} {
		if _, err := parse(output, 2); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func TestExampleScores(t *testing.T) {
	t.Parallel()
	scored, err := evaluate(filepath.Join("..", "filter"), limit)
	if err != nil || scored.Clarity == nil || math.Abs(*scored.Clarity-3.578322) > 1e-5 || math.Abs(*scored.Lag-0.509676) > 1e-5 {
		t.Errorf("the start is %+v, %v", scored, err)
	}
}

// TestHostileFilters builds and runs filters that do not play by the rules.
func TestHostileFilters(t *testing.T) {
	t.Parallel()
	const filter = "\n\ntype F struct{}\n\nfunc New() *F { return &F{} }\n\nfunc (*F) Next(x float64) float64 "
	for name, c := range map[string]struct{ source, reason string }{
		"reads ahead":         {"import `os`" + filter + "{ os.Stdin.Read(nil); return x }", "may not import `os`"},
		"makes the series":    {"import `math/rand/v2`" + filter + "{ return rand.Float64() }", "may not import `math/rand/v2`"},
		"reaches for input":   {filter + "{ lines.Scan(); return x }", "undefined: lines"},
		"not a number":        {"import `math`" + filter + "{ return math.NaN() }", `line 1 of the filter's output: "NaN" is no usable number`},
		"words":               {"\n\ntype F struct{}\n\nfunc New() *F { return &F{} }\n\nfunc (*F) Next(x float64) string { return `{\"clarity\": 99}` }", "is no usable number"},
		"many lines":          {"\n\ntype F struct{}\n\nfunc New() *F { return &F{} }\n\nfunc (*F) Next(x float64) string { return \"1\\n1\" }", "printed more than 12000 numbers"},
		"long lines":          {"import `strings`\n\n" + filter + "{ return 1 }", "may not import `strings`"},
		"fills the pipe":      {"\n\ntype F struct{}\n\nfunc New() *F { return &F{} }\n\nfunc (*F) Next(x float64) [9999]int { return [9999]int{} }", "it printed too much"},
		"exits at once":       {"import `syscall`\n\nfunc init() { syscall.Exit(0) }" + filter + "{ return x }", "may not import `syscall`"},
		"prints the result":   {"func init() { print(`{\"clarity\": 99}`) }" + filter + "{ panic(`done`) }", `it failed: exit status 2: {"clarity": 99}panic: done`},
		"hangs":               {filter + "{ for {} }", "it took longer than 1s"},
		"works in background": {filter + "{ go func() {}(); return x }", "may not start goroutines"},
		"is not there":        {"", "it does not compile"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, limit := t.TempDir(), time.Minute
			if name == "hangs" {
				limit = time.Second
			}
			trusted, err := os.ReadFile(filepath.Join("..", "filter", "main.go"))
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "main.go"), string(trusted))
			write(t, filepath.Join(dir, "filter.go"), "package main\n\n"+c.source)
			scored, err := evaluate(dir, limit)
			if err != nil || scored.Clarity != nil || !strings.Contains(scored.Reason, c.reason) {
				t.Errorf("%+v, %v; not %q", scored, err, c.reason)
			}
		})
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
