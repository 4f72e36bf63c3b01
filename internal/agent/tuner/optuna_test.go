package tuner

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// columns are the searches of the table: three samplers of Optuna, then ours.
var columns = []string{"random", "TPE", "CMA-ES", "tuner"}

// optuna is a process in which Optuna proposes, one study after the other.
type optuna struct {
	in  *json.Encoder
	out *json.Decoder
}

func startOptuna(tb testing.TB, python string) optuna {
	tb.Helper()
	// It ends with its input. Until then it may not be killed: its last words say
	// what went wrong.
	cmd := exec.CommandContext(context.WithoutCancel(tb.Context()), python, "testdata/propose.py")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(tb, err)
	out, err := cmd.StdoutPipe()
	require.NoError(tb, err)
	require.NoError(tb, cmd.Start())
	tb.Cleanup(func() {
		assert.NoError(tb, in.Close())
		_, err := io.Copy(io.Discard, out)
		assert.NoError(tb, err)
		assert.NoError(tb, cmd.Wait())
	})
	return optuna{json.NewEncoder(in), json.NewDecoder(out)}
}

// findOptuna returns a Python that has Optuna: a distribution's package belongs to the
// distribution's Python, which need not be the first in PATH.
func findOptuna(tb testing.TB) string {
	tb.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(tb.Context(), python, "-c", "import optuna").Run() == nil {
			return python
		}
	}
	long.Missing(tb, "Optuna: python3-optuna of Debian")
	return ""
}

// search returns a sampler of Optuna as run wants it. Like the tuner it knows the start
// and what was measured there.
func (o optuna) search(p problem, sampler string, seed int64) func([]Param, []Observation, int) map[string]float64 {
	return func(space []Param, history []Observation, _ int) map[string]float64 {
		last := history[len(history)-1]
		message := map[string]any{"value": *last.Value}
		if len(history) == 1 {
			params := make([]map[string]any, len(space))
			for i, x := range space {
				params[i] = map[string]any{
					"name": x.Name, "min": x.Min, "max": x.Max, "log": x.Log, "int": x.Int,
					"choice": x.Name == p.choice,
				}
			}
			message["sampler"], message["seed"], message["space"], message["start"] = sampler, seed, params, last.Params
		}
		if err := o.in.Encode(message); err != nil {
			panic(fmt.Errorf("tell Optuna: %w", err))
		}
		var next map[string]float64
		if err := o.out.Decode(&next); err != nil {
			panic(fmt.Errorf("ask Optuna: %w", err))
		}
		return next
	}
}

// besideOptuna returns the true cost of the incumbent by column, mark and seed. All
// columns have the same optimum, start and noise, and the same rule of what is kept.
func besideOptuna(processes []optuna, name string, n, seeds int, marks []int) [][][]float64 {
	free := make(chan optuna, len(processes))
	for _, o := range processes {
		free <- o
	}
	reached := make([][][]float64, len(columns))
	var group sync.WaitGroup
	for k, column := range columns {
		reached[k] = make([][]float64, len(marks))
		for i := range marks {
			reached[k][i] = make([]float64, seeds)
		}
		for at := range seeds {
			o := <-free
			group.Go(func() {
				defer func() { free <- o }()
				seed := int64(at + 1)
				p := makeProblem(name, n, uint64(seed))
				search := ours(seed)
				if column != "tuner" {
					search = o.search(p, column, seed)
				}
				for i, cost := range run(p, seed, marks, search) {
					reached[k][i][at] = cost
				}
			})
		}
	}
	group.Wait()
	return reached
}

// rows prints one line a mark, as in docs/explain/tuner.md: the median and the
// quartiles of each column, the lowest median bold.
func rows(title string, marks []int, reached [][][]float64) string {
	var text strings.Builder
	for i, mark := range marks {
		medians := make([]float64, len(columns))
		for k := range columns {
			medians[k] = quantile(reached[k][i], 0.5)
		}
		fmt.Fprintf(&text, "| %s | %d |", title, mark)
		for k, median := range medians {
			bold := ""
			if median == slices.Min(medians) {
				bold = "**"
			}
			fmt.Fprintf(&text, " %s%s%s (%s–%s) |", bold, short(median), bold,
				short(quantile(reached[k][i], 0.25)), short(quantile(reached[k][i], 0.75)))
		}
		text.WriteString("\n")
	}
	return text.String()
}

func short(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2g", x)
}

// quantile interpolates between the two nearest values.
func quantile(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	low, rest := math.Modf(share * float64(len(sorted)-1))
	at := int(low)
	if at+1 == len(sorted) {
		return sorted[at]
	}
	return sorted[at] + rest*(sorted[at+1]-sorted[at])
}

// BenchmarkBesideOptuna prints the table of docs/explain/tuner.md, one problem at a
// time: 30 seeds, after 20, 50 and 100 evaluations.
func BenchmarkBesideOptuna(b *testing.B) {
	python := findOptuna(b)
	marks := []int{20, 50, 100}
	for _, p := range []struct {
		name    string
		numbers []int
	}{
		{"sphere", []int{2, 5, 10}},
		{"rosenbrock", []int{2, 5, 10}},
		{"ackley", []int{2, 5, 10}},
		{"deep rastrigin", []int{2, 5, 10}},
		{"mixed", []int{4}},
		{"noisy sphere", []int{5}},
	} {
		for _, n := range p.numbers {
			title := fmt.Sprintf("%s %d", p.name, n)
			b.Run(title, func(b *testing.B) {
				processes := make([]optuna, runtime.GOMAXPROCS(0))
				for i := range processes {
					processes[i] = startOptuna(b, python)
				}
				for range b.N {
					b.Logf("\n%s", rows(title, marks, besideOptuna(processes, p.name, n, 30, marks)))
				}
			})
		}
	}
}

// TestBesideOptuna runs the comparison in little: the same search twice ends at the same
// points, and what the tuner is compared with is itself better than random search.
func TestBesideOptuna(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	processes := []optuna{startOptuna(t, findOptuna(t))}
	marks := []int{10, 40}
	reached := besideOptuna(processes, "sphere", 2, 3, marks)
	assert.Equal(t, reached, besideOptuna(processes, "sphere", 2, 3, marks))
	for k, column := range columns {
		for seed := range 3 {
			assert.LessOrEqual(t, reached[k][1][seed], reached[k][0][seed], "%s moves away from the optimum", column)
		}
		if column != "random" {
			assert.Less(t, quantile(reached[k][1], 0.5), quantile(reached[0][1], 0.5),
				"%s is no better than random search", column)
		}
	}
}

// TestOptunaSearchesTheSameSpace of every kind of parameter, from the same start.
func TestOptunaSearchesTheSameSpace(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	o := startOptuna(t, findOptuna(t))
	for _, sampler := range columns[:3] {
		p := makeProblem("mixed", 4, 1)
		search, seen := o.search(p, sampler, 1), map[float64]bool{}
		run(p, 1, []int{30}, func(space []Param, history []Observation, i int) map[string]float64 {
			next := search(space, history, i)
			require.Len(t, next, len(space))
			for _, x := range space {
				value := next[x.Name]
				assert.True(t, value >= x.Min && value <= x.Max && (!x.Int || value == math.Trunc(value)),
					"%s: %s = %v", sampler, x.Name, value)
			}
			seen[next[p.choice]] = true
			return next
		})
		assert.Len(t, seen, 5, "%s: the choices that were tried", sampler)
	}
}

func TestProblemsAreZeroAtTheirOptimum(t *testing.T) {
	for _, p := range append(slices.Clone(problems), []struct {
		name string
		n    int
	}{{"ackley", 5}, {"deep rastrigin", 5}, {"mixed", 4}}...) {
		for seed := range uint64(5) {
			made := makeProblem(p.name, p.n, seed)
			assert.InDelta(t, 0, made.f(made.best), 1e-12, p.name)
			start := make([]float64, len(made.space))
			for i, x := range made.space {
				start[i] = x.Current
				assert.True(t, made.best[i] >= x.Min && made.best[i] <= x.Max, "%s: %s", p.name, x.Name)
			}
			assert.Positive(t, made.f(start), p.name)
		}
	}
}

// TestRowsShowWhoIsNearest keeps the table from hiding where others are better.
func TestRowsShowWhoIsNearest(t *testing.T) {
	assert.Equal(t, `| f 2 | 20 | 2 (1.5–2.5) | 5 (4.5–5.5) | 8 (7.5–8.5) | **0.6** (0.55–0.7) |
| f 2 | 50 | 160 (155–165) | **0.2** (0.15–0.3) | 8 (7.5–8.5) | 2 (1.5–2.5) |
`, rows("f 2", []int{20, 50}, [][][]float64{
		{{3, 2, 1}, {150, 160, 170}},
		{{4, 5, 6}, {0.1, 0.2, 0.4}},
		{{7, 8, 9}, {7, 8, 9}},
		{{0.5, 0.6, 0.8}, {1, 2, 3}},
	}))
}
