package tests

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
)

// example is an example program whose target file has tune marks.
type example struct {
	program *program.Program
	dir     string // of the program, from the repository's root
	target  string // the marked file, likewise
	binary  string // its evaluator
	start   metric.Measurement
	noisy   bool // two evaluations of the start gave two numbers
	// path, when set, is searched for commands first.
	path string
}

// found is what a search came to: the incumbent's number after so many
// evaluations as the marks say, and its target file.
type found struct {
	values []float64
	text   []byte
}

// examples builds the evaluators of all example programs with tune marks.
func examples(tb testing.TB) []*example {
	tb.Helper()
	entries, err := os.ReadDir(filepath.Join("..", "programs"))
	require.NoError(tb, err)
	var all []*example
	for _, entry := range entries {
		if entry.IsDir() {
			if e := newExample(tb, entry.Name()); e != nil {
				all = append(all, e)
			}
		}
	}
	require.NotEmpty(tb, all)
	return all
}

func newExample(tb testing.TB, name string) *example {
	tb.Helper()
	file := filepath.Join("..", "programs", name, "program.md")
	text, err := os.ReadFile(file)
	require.NoError(tb, err)
	e := &example{program: program.Parse(filepath.ToSlash(file), text), dir: "programs/" + name}
	e.program.Name = name
	require.NoError(tb, e.program.Err())
	sources, err := filepath.Glob(filepath.Join("..", e.dir, "*", "*.go"))
	require.NoError(tb, err)
	build := []string{"build", "-o", filepath.Join(tb.TempDir(), "evaluate.exe")}
	for _, source := range sources {
		inside := strings.TrimPrefix(filepath.ToSlash(source), "../")
		switch {
		case e.program.Matcher().Allows(inside) && agent.HasTuneMarks("..", []string{inside}):
			e.target = inside
		case strings.HasPrefix(inside, e.dir+"/evaluate/") && !strings.HasSuffix(inside, "_test.go"):
			build = append(build, "evaluate/"+filepath.Base(source))
		}
	}
	if e.target == "" {
		return nil
	}
	e.binary = build[2]
	command := exec.CommandContext(context.Background(), "go", build...)
	command.Dir = filepath.Join("..", filepath.FromSlash(e.dir)) // its module is another one
	out, err := command.CombinedOutput()
	require.NoError(tb, err, "%s", out)
	e.start = e.measureStart(tb)
	e.noisy = e.measureStart(tb).Metric.Cmp(*e.start.Metric) != 0
	return e
}

func (e *example) measureStart(tb testing.TB) metric.Measurement {
	tb.Helper()
	m, err := e.measure("..")
	require.NoError(tb, err)
	require.NotNil(tb, m.Metric, m.RejectedReason)
	return m
}

// measure runs the evaluator on the program in the tree.
func (e *example) measure(tree string) (metric.Measurement, error) {
	command := exec.CommandContext(context.Background(), e.binary)
	if e.path != "" {
		command.Env = append(os.Environ(), "PATH="+e.path+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	command.Dir = filepath.Join(tree, filepath.FromSlash(e.dir))
	out, err := command.Output()
	if err != nil {
		//nolint:nilerr // a candidate that fails is a result
		return metric.Measurement{RejectedReason: err.Error()}, nil
	}
	return metric.Extract(out, e.program.Metric)
}

// buildOnce keeps what evaluations build: a target file is measured many times,
// and always builds the same.
func (e *example) buildOnce(tb testing.TB) {
	tb.Helper()
	compiler, err := exec.LookPath("go")
	if err != nil || !e.noisy || runtime.GOOS == "windows" {
		return
	}
	e.path = tb.TempDir()
	script := fmt.Sprintf(`#!/bin/sh
if [ "$1 $2" != "build -o" ]; then exec %[1]q "$@"; fi
built=%[2]q/$(cat go.mod main.go changed/*.go | cksum | tr ' ' -)
[ -f "$built" ] || { %[1]q "$@" && mv "$3" "$built.$$" && mv "$built.$$" "$built"; } || exit 1
ln "$built" "$3"
`, compiler, tb.TempDir())
	require.NoError(tb, os.WriteFile(filepath.Join(e.path, "go"), []byte(script), 0o755)) //nolint:gosec // it is run
}

// copyTree writes the program into a new tree.
func (e *example) copyTree() (tree string, err error) {
	if tree, err = os.MkdirTemp("", "tuner-"); err != nil {
		return "", err
	}
	from := filepath.Join("..", filepath.FromSlash(e.dir))
	return tree, os.CopyFS(filepath.Join(tree, filepath.FromSlash(e.dir)), os.DirFS(from))
}

// again measures a target file once more.
func (e *example) again(text []byte) (float64, error) {
	tree, err := e.copyTree()
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(tree) }()
	if err := os.WriteFile(filepath.Join(tree, filepath.FromSlash(e.target)), text, 0o600); err != nil {
		return 0, err
	}
	m, err := e.measure(tree)
	if err != nil || m.Metric == nil {
		return 0, fmt.Errorf("measure again: %w%s", err, m.RejectedReason)
	}
	return m.Metric.Float64(), nil
}

// proposer changes the target file in a tree, and returns what it tried.
type proposer func(e *example, request agent.Request, random *rand.Rand) (map[string]metric.Value, error)

// search goes through evaluations as the loop does: each candidate is measured
// and kept when it is better and no guardrail is broken; that of a noisy program
// in pairs with the incumbent.
func (e *example) search(seed int64, marks []int, propose proposer) (found, error) {
	tree, err := e.copyTree()
	if err != nil {
		return found{}, err
	}
	defer func() { _ = os.RemoveAll(tree) }()
	file := filepath.Join(tree, filepath.FromSlash(e.target))
	kept, err := os.ReadFile(file)
	if err != nil {
		return found{}, err
	}
	best := e.start.Metric
	random := rand.New(rand.NewPCG(uint64(seed), 9))
	request := agent.Request{Dir: tree, Targets: []string{e.target}, Direction: e.program.Direction, Seed: seed}
	var result found
	for n := 1; n <= marks[len(marks)-1]; n++ {
		request.Incumbent = best
		params, err := propose(e, request, random)
		if err != nil {
			return found{}, err
		}
		var m metric.Measurement
		if e.noisy {
			best, m, err = e.paired(tree, kept, best)
		} else {
			m, err = e.measure(tree)
		}
		if err != nil {
			return found{}, err
		}
		made := e.decide(m, best)
		accepted := made.Verdict == decision.Improved
		request.History = append(request.History, agent.PastIteration{
			Iteration: n, Params: params, Metric: m.Metric, Previous: best, Accepted: accepted,
		})
		if accepted {
			best = m.Metric
			if kept, err = os.ReadFile(file); err != nil {
				return found{}, err
			}
		}
		if err := os.WriteFile(file, kept, 0o600); err != nil {
			return found{}, err
		}
		if slices.Contains(marks, n) {
			result.values = append(result.values, best.Float64())
		}
	}
	result.text = kept
	return result, nil
}

// paired measures the candidate in the tree beside the incumbent's target file,
// in three pairs, so that a machine whose speed drifts is the same for both, and
// returns the medians.
func (e *example) paired(tree string, incumbent []byte, best *metric.Value) (*metric.Value, metric.Measurement, error) {
	file := filepath.Join(tree, filepath.FromSlash(e.target))
	candidate, err := os.ReadFile(file)
	if err != nil {
		return nil, metric.Measurement{}, err
	}
	var sides [2][]metric.Measurement
	for _, side := range []int{1, 0, 0, 1, 1, 0} {
		if err := os.WriteFile(file, [][]byte{incumbent, candidate}[side], 0o600); err != nil {
			return nil, metric.Measurement{}, err
		}
		m, err := e.measure(tree)
		if err != nil || m.Metric == nil {
			return best, m, err
		}
		sides[side] = append(sides[side], m)
	}
	return middle(sides[0]).Metric, middle(sides[1]), os.WriteFile(file, candidate, 0o600)
}

// middle is the measurement whose metric is the median.
func middle(side []metric.Measurement) metric.Measurement {
	slices.SortFunc(side, func(a, b metric.Measurement) int { return a.Metric.Cmp(*b.Metric) })
	return side[len(side)/2]
}

// decide is the gate's decision on a single measurement.
func (e *example) decide(m metric.Measurement, best *metric.Value) decision.Decision {
	standard := decision.Standard{
		Rule:      decision.Rule{Regime: decision.Single, MinImprovement: decision.Allowance(e.program.MinImprovement)},
		Direction: e.program.Direction, Best: best, Initial: map[string][]metric.Value{},
	}
	for _, rail := range e.program.Guardrails {
		standard.Guardrails = append(standard.Guardrails, decision.Guardrail{
			Metric: rail.Metric, Direction: rail.Direction, MaxRegression: decision.Allowance(rail.MaxRegression),
		})
		standard.Initial[rail.Metric] = []metric.Value{e.start.Numbers[rail.Metric]}
	}
	trial := decision.NewTrial(standard)
	for step, more := trial.Next(); more; step, more = trial.Next() {
		trial.Add(step, m)
	}
	return trial.Decision()
}

func tunerProposal(_ *example, request agent.Request, _ *rand.Rand) (map[string]metric.Value, error) {
	reply, err := agent.Tuner{}.Propose(context.Background(), request)
	if err == nil && reply.Failure != nil {
		err = reply.Failure
	}
	return reply.Params, err
}

var markedLine = regexp.MustCompile(`(?m)= +(\S+)( +// tune: )(\S+)\.\.(\S+)(.*)$`)

// randomProposal draws every marked number from its range, evenly, or evenly in
// its logarithm where the mark says log.
func randomProposal(e *example, request agent.Request, random *rand.Rand) (map[string]metric.Value, error) {
	file := filepath.Join(request.Dir, filepath.FromSlash(e.target))
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	text = markedLine.ReplaceAllFunc(text, func(line []byte) []byte {
		parts := markedLine.FindStringSubmatch(string(line))
		low, _ := strconv.ParseFloat(parts[3], 64)
		high, _ := strconv.ParseFloat(parts[4], 64)
		options := strings.Fields(parts[5])
		x := low + random.Float64()*(high-low)
		if slices.Contains(options, "log") {
			x = low * math.Pow(high/low, random.Float64())
		}
		if slices.Contains(options, "int") {
			x = math.Round(x)
		}
		return []byte("= " + strconv.FormatFloat(x, 'f', -1, 64) + parts[2] + parts[3] + ".." + parts[4] + parts[5])
	})
	return nil, os.WriteFile(file, text, 0o600)
}
