package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMinimumOfFunction(t *testing.T) {
	t.Parallel()
	lowest := f(-1.70408, 0.67751)
	if math.Abs(lowest+1.518686) > 1e-6 {
		t.Errorf("f is %v there", lowest)
	}
	for x := -10.0; x <= 10; x += 0.05 {
		for y := -10.0; y <= 10; y += 0.05 {
			if value := f(x, y); value < lowest-1e-9 {
				t.Fatalf("f(%v, %v) is %v", x, y, value)
			}
		}
	}
}

func TestScore(t *testing.T) {
	t.Parallel()
	scored := score([]point{{0, 0}, {-1.70408, 0.67751}})
	if math.Abs(*scored.Value+1.518686/2) > 1e-6 || *scored.Worst != 0 {
		t.Errorf("mean %v, worst %v", *scored.Value, *scored.Worst)
	}
}

func TestParseTakesPointsAndNothingElse(t *testing.T) {
	t.Parallel()
	points, err := parse(strings.Repeat("1e-3 -2\n", seeds))
	if err != nil || len(points) != seeds || points[seeds-1] != (point{1e-3, -2}) {
		t.Errorf("%v, %v", points, err)
	}
	good := strings.Repeat("1 2\n", seeds-1)
	for _, output := range []string{
		"", good, good + "1 2\n1 2\n", good + "NaN 1\n", good + "1 -Inf\n", good + "1 1e7\n", good + "1 1e400\n",
		good + "1\n", good + "1 2 3\n", good + "\n", good + "1 2\n\n", good + "{\"value\": -9}\n",
	} {
		if points, err := parse(output); err == nil {
			t.Errorf("%q is %v", output, points)
		}
	}
}

func TestExampleScores(t *testing.T) {
	t.Parallel()
	scored, err := evaluate(filepath.Join("..", "search"), limit)
	if err != nil || scored.Value == nil || math.Abs(*scored.Value-1.075) > 0.001 {
		t.Errorf("the start is %+v, %v", scored, err)
	}
}

// TestHostileSearches builds and runs searches that do not play by the rules.
func TestHostileSearches(t *testing.T) {
	t.Parallel()
	const search = "\n\nfunc Search(f func(x, y float64) float64, seed uint64) (x, y float64) "
	for name, c := range map[string]struct{ source, reason string }{
		"asks too often":      {search + "{ for range 501 { f(0, 0) }; return 0, 0 }", "asked for the value 501 times"},
		"hides that it asks":  {search + "{ defer func() { recover() }(); for range 501 { f(0, 0) }; panic(1) }", "asked for the value 501 times"},
		"changes the count":   {"func init() { asked = 0 }" + search + "{ return 0, 0 }", "undefined: asked"},
		"changes the limit":   {"const allowed = 1e9" + search + "{ for range 501 { f(0, 0) }; return 0, 0 }", "asked for the value 501 times"},
		"not a number":        {"import `math`" + search + "{ return math.NaN(), 0 }", `"NaN" is no coordinate`},
		"no number at all":    {"import `math`" + search + "{ return 0, math.Inf(-1) }", `"-Inf" is no coordinate`},
		"exits at once":       {"import `os`\n\nfunc init() { os.Exit(0) }" + search + "{ return 0, 0 }", "may not import `os`"},
		"prints the result":   {"func init() { println(`{\"value\": -9}`) }" + search + "{ panic(0) }", "it failed: exit status 2"},
		"writes a file":       {"import `os`" + search + "{ os.WriteFile(`value`, nil, 0600); return 0, 0 }", "may not import `os`"},
		"hangs":               {search + "{ for {} }", "it took longer than 1s"},
		"fills the screen":    {search + "{ for { println(`more and more`) } }", "it printed too much"},
		"waits for nothing":   {search + "{ select {} }", "it failed: exit status 2: fatal error: all goroutines are asleep"},
		"works in background": {search + "{ go f(0, 0); return 0, 0 }", "may not start goroutines"},
		"another signature":   {"func Search() {}", "it does not compile"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, limit := t.TempDir(), time.Minute
			if name == "hangs" {
				limit = time.Second
			}
			trusted, err := os.ReadFile(filepath.Join("..", "search", "main.go"))
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "main.go"), string(trusted))
			write(t, filepath.Join(dir, "search.go"), "package main\n\n"+c.source)
			scored, err := evaluate(dir, limit)
			if err != nil || scored.Value != nil || !strings.Contains(scored.Reason, c.reason) {
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
