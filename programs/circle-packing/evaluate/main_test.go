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

// grid is a valid packing: 25 circles that touch each other and the square in
// exact arithmetic, and one in a corner.
func grid() []circle {
	var packing []circle
	for i := range 25 {
		packing = append(packing, circle{float64(1+2*(i%5)) / 16, float64(1+2*(i/5)) / 16, 1.0 / 16})
	}
	return append(packing, circle{0.875, 0.875, 0.125})
}

func TestCheckIsStrict(t *testing.T) {
	t.Parallel()
	sum, err := score(grid())
	if want := 25.0/16 + 0.125; err != nil || math.Abs(sum-want) > 1e-9 {
		t.Fatalf("a valid packing is %v, %v, not %v", sum, err, want)
	}
	ulp := func(x float64) float64 { return math.Nextafter(x, 2) }
	for name, c := range map[string]struct {
		change func([]circle) []circle
		reason string
	}{
		"none":               {func([]circle) []circle { return nil }, "0 circles, not 26"},
		"one missing":        {func(p []circle) []circle { return p[:25] }, "25 circles, not 26"},
		"one more":           {func(p []circle) []circle { return append(p, circle{0.8, 0.1, 0.01}) }, "27 circles, not 26"},
		"overlap by a bit":   {func(p []circle) []circle { p[6].r = ulp(p[6].r); return p }, "circles 2 and 7 overlap"},
		"leaves by a bit":    {func(p []circle) []circle { p[25].r = ulp(p[25].r); return p }, "circle 26 leaves the square"},
		"below the square":   {func(p []circle) []circle { p[0].y -= 1e-17; return p }, "circle 1 leaves the square"},
		"outside":            {func(p []circle) []circle { p[25].x = 7; return p }, "circle 26 leaves the square"},
		"no radius":          {func(p []circle) []circle { p[3].r = 0; return p }, "circle 4 has no radius"},
		"negative radius":    {func(p []circle) []circle { p[3].r = -1; return p }, "circle 4 has no radius"},
		"the same circle":    {func(p []circle) []circle { p[1] = p[0]; return p }, "circles 1 and 2 overlap"},
		"one inside another": {func(p []circle) []circle { p[1] = circle{p[0].x, p[0].y, 0.001}; return p }, "circles 1 and 2 overlap"},
	} {
		if _, err := score(c.change(grid())); err == nil || err.Error() != c.reason {
			t.Errorf("%s: %v, not %q", name, err, c.reason)
		}
	}
}

func TestParseTakesCirclesAndNothingElse(t *testing.T) {
	t.Parallel()
	packing, err := parse("0.5 0.5 0.1\n1e-3 1 2\n")
	if want := []circle{{0.5, 0.5, 0.1}, {1e-3, 1, 2}}; err != nil || !slices.Equal(packing, want) {
		t.Errorf("%v, %v", packing, err)
	}
	for _, output := range []string{
		`{"sum_of_radii": 3}`, "1 2", "1 2 3 4", "a b c", "NaN 1 1", "1 Inf 1", "1 1 1e-300", "1 1 1e400", "\n",
		strings.Repeat("1 1 1\n", 1000),
	} {
		if packing, err := parse(output); err == nil {
			t.Errorf("%q is %v", output, packing)
		}
	}
}

func TestExampleScores(t *testing.T) {
	t.Parallel()
	scored, err := evaluate(filepath.Join("..", "pack"), limit)
	if err != nil || scored.Sum == nil || *scored.Sum != 2.259999999 {
		t.Errorf("the start is %+v, %v", scored, err)
	}
}

// TestHostilePackings builds and runs packings that do not play by the rules.
func TestHostilePackings(t *testing.T) {
	t.Parallel()
	const none = "\n\nfunc Pack() []struct{ X, Y, R float64 } { return nil }\n"
	for name, c := range map[string]struct{ source, reason string }{
		"crashes":           {"func init() { panic(`no`) }" + none, "it failed: exit status 2: panic: no"},
		"hangs":             {"func init() { for {} }" + none, "it took longer than 1s"},
		"fills the screen":  {"func init() { for { println(`more and more`) } }" + none, "it printed too much"},
		"prints at the end": {"func init() { println(`{\"sum_of_radii\": 9}`) }" + none, "0 circles, not 26"},
		"exits at once":     {"import `os`\n\nfunc init() { os.Exit(0) }" + none, "may not import `os`"},
		"prints the result": {"import `fmt`\n\nfunc init() { fmt.Println(`{\"sum_of_radii\": 9}`) }" + none, "may not import `fmt`"},
		"another name":      {"import math `os`\n\nfunc init() { math.Exit(0) }" + none, "may not import `os`"},
		"unsafe":            {"import _ `unsafe`\n\n//go:linkname exit os.Exit\nfunc exit(int)\n" + none, "may not import `unsafe`"},
		"linked by name":    {"//go:linkname exit os.Exit\nfunc exit(int)\n" + none, "it does not compile"},
		"C":                 {"import `C`" + none, "may not import `C`"},
		"a goroutine":       {"func init() { go func() {}() }" + none, "may not start goroutines"},
		"a main of its own": {"func main() {}" + none, "0 circles, not 26"},
		"other floats":      {"type float64 = string\n\nfunc Pack() []struct{ X, Y, R float64 } { return []struct{ X, Y, R float64 }{{`1 2`, `3`, `4`}} }\n", "is not a circle"},
		"no Go":             {"func (" + none, "expected"},
		"does not compile":  {"func init() { return 1 }" + none, "it does not compile"},
		"left out":          {"//go:build ignore\n\npackage main\n" + none, "it does not compile"},
		"no circles":        {none, "0 circles, not 26"},
		"not numbers": {
			"import `math`\n\nfunc Pack() []struct{ X, Y, R float64 } { return []struct{ X, Y, R float64 }{{math.NaN(), 0, 1}} }\n",
			`line 1 of the packing's output: "NaN" is no usable number`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			copyFile(t, filepath.Join("..", "pack", "main.go"), filepath.Join(dir, "main.go"))
			if !strings.Contains(c.source, "package main") {
				c.source = "package main\n\n" + c.source
			}
			write(t, filepath.Join(dir, "pack.go"), c.source)
			limit := time.Minute
			if name == "hangs" {
				limit = time.Second
			}
			scored, err := evaluate(dir, limit)
			if err != nil || scored.Sum != nil || !strings.Contains(scored.Reason, c.reason) {
				t.Errorf("%+v, %v; not %q", scored, err, c.reason)
			}
		})
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	write(t, to, string(text))
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
