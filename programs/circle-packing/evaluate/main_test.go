package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// grid is a valid packing: 25 circles that touch each other and the square in
// exact arithmetic, and one in a gap.
func grid() []circle {
	var packing []circle
	for i := range 25 {
		packing = append(packing, circle{float64(1+2*(i%5)) / 16, float64(1+2*(i/5)) / 16, 1.0 / 16})
	}
	return append(packing, circle{0.875, 0.875, 0.125})
}

func TestCheckIsStrict(t *testing.T) {
	require.NoError(t, check(grid()))
	ulp := func(x float64) float64 { return math.Nextafter(x, 2) }
	for name, c := range map[string]struct {
		change func([]circle) []circle
		reason string
	}{
		"one missing":        {func(p []circle) []circle { return p[:25] }, "25 circles, not 26"},
		"one more":           {func(p []circle) []circle { return append(p, circle{0.8, 0.1, 0.01}) }, "27 circles, not 26"},
		"overlap by a bit":   {func(p []circle) []circle { p[6].r = ulp(p[6].r); return p }, "circles 2 and 7 overlap"},
		"leaves by a bit":    {func(p []circle) []circle { p[25].r = ulp(p[25].r); return p }, "circle 26 leaves the square"},
		"below the square":   {func(p []circle) []circle { p[0].y -= 1e-17; return p }, "circle 1 leaves the square"},
		"no radius":          {func(p []circle) []circle { p[3].r = 0; return p }, "circle 4 has no radius"},
		"negative radius":    {func(p []circle) []circle { p[3].r = -1; return p }, "circle 4 has no radius"},
		"the same circle":    {func(p []circle) []circle { p[1] = p[0]; return p }, "circles 1 and 2 overlap"},
		"one inside another": {func(p []circle) []circle { p[1] = circle{p[0].x, p[0].y, 0.001}; return p }, "circles 1 and 2 overlap"},
	} {
		t.Run(name, func(t *testing.T) {
			packing := c.change(grid())
			require.EqualError(t, check(packing), c.reason)
			scored := score(packing)
			assert.Nil(t, scored.Sum)
			assert.Equal(t, c.reason, scored.Reason)
		})
	}
	scored := score(grid())
	require.NotNil(t, scored.Sum)
	assert.InDelta(t, 25.0/16+0.125, *scored.Sum, 1e-9)
}

func TestParseTakesCirclesAndNothingElse(t *testing.T) {
	packing, err := parse("0.5 0.5 0.1\n1e-3 1 2\n")
	require.NoError(t, err)
	assert.Equal(t, []circle{{0.5, 0.5, 0.1}, {1e-3, 1, 2}}, packing)
	for _, output := range []string{
		`{"sum_of_radii": 3}`, "1 2", "1 2 3 4", "a b c", "NaN 1 1", "1 Inf 1", "1 1 1e-300", "\n",
		strings.Repeat("1 1 1\n", 1000),
	} {
		_, err := parse(output)
		assert.Error(t, err, output)
	}
}

func TestEvaluateRunsThePackingApart(t *testing.T) {
	scored, err := evaluate(filepath.Join("..", "pack"))
	require.NoError(t, err)
	require.NotNil(t, scored.Sum, scored.Reason)
	assert.Greater(t, *scored.Sum, 2.0)
	assert.Less(t, *scored.Sum, 2.636)

	for name, c := range map[string]struct{ body, message string }{
		"prints the result itself": {`func init() { println(); os.Stdout.WriteString("{\"sum_of_radii\": 9}\n"); os.Exit(0) }`, "is not a circle"},
		"fails":                    {`func init() { os.Exit(3) }`, "run the packing: exit status 3"},
		"prints without end":       {`func init() { for { os.Stdout.WriteString("1 1 1\n") } }`, "run the packing"},
		"does not compile":         {`func init() { return 1 }`, "build the packing"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			source := fmt.Sprintf("package main\n\nimport \"os\"\n\n%s\n\nvar _ = os.Exit\n", c.body)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "pack.go"), []byte(source), 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o644))
			_, err := evaluate(dir)
			require.ErrorContains(t, err, c.message)
		})
	}
}
