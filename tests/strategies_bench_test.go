package tests

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/loop/strategy"
	"github.com/org/autoloop/internal/metric"
)

// together is how many proposals are made side by side.
const together = 4

// BenchmarkStrategies gives every way of searching the same number of
// evaluations of the example programs with tune marks, through their own
// evaluators, and prints the median number that each arrives at: a row of the
// table in docs/howto/several-candidates.md. What an agent with judgement would propose is
// stood in for by one that is the same everywhere: it changes one or two of the
// marked numbers of the files that it finds, by chance.
func BenchmarkStrategies(b *testing.B) {
	seeds := 20
	if testing.Short() {
		seeds = 3
	}
	const evaluations = 12 * together
	for _, e := range examples(b) {
		b.Run(e.program.Name, func(b *testing.B) {
			e.buildOnce(b)
			for b.Loop() {
				ways := []struct {
					name    string
					propose proposer
				}{
					{"random search", randomProposal},
					{"one proposal at a time", mutate},
					{fmt.Sprintf("best of %d", together), remembering(bestOf)},
					{"population", remembering(evolve)},
					{"tuner", tunerProposal},
				}
				sides := make([][]found, len(ways))
				for i, way := range ways {
					sides[i] = e.runs(b, way.name, seeds, evaluations, way.propose)
				}
				e.remeasure(b, sides...)
				row := fmt.Sprintf("| `%s` | %s ", e.program.Name, e.start.Metric)
				for i := range ways {
					row += "| " + strconv.FormatFloat(medianValue(sides[i]), 'g', 6, 64) + " "
				}
				b.Logf("%d evaluations, %d seeds, %s is better\n%s|", evaluations, seeds, e.program.Direction, row)
			}
		})
	}
}

// runs lets one way search with every seed. Programs that go by the clock are
// measured one at a time.
func (e *example) runs(tb testing.TB, name string, seeds, evaluations int, propose proposer) []found {
	tb.Helper()
	all := make([]found, seeds)
	slots := make(chan bool, runtime.NumCPU())
	if e.noisy {
		slots = make(chan bool, 1)
	}
	var group sync.WaitGroup
	for seed := range seeds {
		slots <- true
		group.Go(func() {
			defer func() { <-slots }()
			var err error
			if all[seed], err = e.search(int64(seed+1), []int{evaluations}, propose); err != nil {
				tb.Errorf("%s, seed %d: %v", name, seed+1, err)
			}
		})
	}
	group.Wait()
	if tb.Failed() {
		tb.FailNow()
	}
	fmt.Fprintf(os.Stderr, "%s, %s: %g\n", e.program.Name, name, medianValue(all)) // it takes long
	return all
}

func medianValue(side []found) float64 {
	values := make([]float64, len(side))
	for i, f := range side {
		values[i] = f.values[0]
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// mutate changes one or two of the marked numbers of the target file, by steps
// that are mostly small.
func mutate(e *example, request agent.Request, random *rand.Rand) (map[string]metric.Value, error) {
	file := filepath.Join(request.Dir, filepath.FromSlash(e.target))
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	count := len(markedLine.FindAll(text, -1))
	chosen := []int{random.IntN(count), random.IntN(count)}
	at := -1
	text = markedLine.ReplaceAllFunc(text, func(line []byte) []byte {
		if at++; !slices.Contains(chosen, at) {
			return line
		}
		parts := markedLine.FindStringSubmatch(string(line))
		return []byte("= " + step(parts[1], parts[3], parts[4], strings.Fields(parts[5]),
			random) + parts[2] + parts[3] +
			".." + parts[4] + parts[5])
	})
	return nil, os.WriteFile(file, text, 0o600)
}

// step moves a number within its range.
func step(now, least, most string, options []string, random *rand.Rand) string {
	x, _ := strconv.ParseFloat(now, 64)
	low, _ := strconv.ParseFloat(least, 64)
	high, _ := strconv.ParseFloat(most, 64)
	width := math.Pow(10, -2*random.Float64()) * random.NormFloat64() * 0.5
	if slices.Contains(options, "log") {
		x *= math.Pow(high/low, width)
	} else {
		x += width * (high - low)
	}
	if slices.Contains(options, "int") {
		x = math.Round(x)
	}
	return strconv.FormatFloat(min(max(x, low), high), 'f', -1, 64)
}

// memory is what one search keeps from proposal to proposal.
type rememberer struct {
	base  []byte   // the files that several proposals begin with
	texts [][]byte // what was proposed
	lines [][]string
	start []byte
}

// remembering gives every seed a memory of its own.
func remembering(propose func(*example, agent.Request, *rand.Rand, *rememberer) error) proposer {
	var lock sync.Mutex
	memories := map[int64]*rememberer{}
	return func(e *example, request agent.Request, random *rand.Rand) (map[string]metric.Value, error) {
		lock.Lock()
		m := memories[request.Seed]
		if m == nil || len(request.History) == 0 {
			m = &rememberer{}
			memories[request.Seed] = m
		}
		lock.Unlock()
		file := filepath.Join(request.Dir, filepath.FromSlash(e.target))
		incumbent, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if m.start == nil {
			m.start = incumbent
		}
		if len(request.History)%together == 0 {
			m.base = incumbent
		}
		if err := propose(e, request, random, m); err != nil {
			return nil, err
		}
		made, err := os.ReadFile(file)
		m.texts, m.lines = append(m.texts, made), append(m.lines, differing(m.start, made))
		return nil, err
	}
}

// bestOf begins with the same files until all proposals of a round are made.
func bestOf(e *example, request agent.Request, random *rand.Rand, m *rememberer) error {
	if err := os.WriteFile(filepath.Join(request.Dir, filepath.FromSlash(e.target)), m.base, 0o600); err != nil {
		return err
	}
	_, err := mutate(e, request, random)
	return err
}

// evolve begins with the files of the member of the population that is chosen.
func evolve(e *example, request agent.Request, random *rand.Rand, m *rememberer) error {
	var all []strategy.Individual
	var texts [][]byte
	for i, tried := range request.History {
		if tried.Metric != nil {
			all = append(all, strategy.Individual{
				Iteration: tried.Iteration, Proposal: 1, Value: tried.Metric.Float64(),
				Lines: m.lines[i],
			})
			texts = append(texts, m.texts[i])
		}
	}
	offspring := strategy.Openevolve{}.SelectParents(strategy.Population{
		Members: all, Direction: request.Direction, Seed: request.Seed, Iteration: len(request.History) + 1,
		Proposal: 1,
	})
	if offspring.Parent >= 0 {
		if err := os.WriteFile(filepath.Join(request.Dir, filepath.FromSlash(e.target)), texts[offspring.Parent],
			0o600); err != nil {
			return err
		}
	}
	_, err := mutate(e, request, random)
	return err
}

// differing are the lines of two texts that are not in both.
func differing(a, b []byte) []string {
	before, after := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	var lines []string
	for _, line := range before {
		if !slices.Contains(after, line) {
			lines = append(lines, "-"+line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			lines = append(lines, "+"+line)
		}
	}
	return lines
}
