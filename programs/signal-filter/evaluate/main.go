// Command evaluate scores the filter beside it. It makes noisy series from
// fixed seeds, runs the filter on them as a process of its own, compares what
// comes back with the truth, which the filter never sees, and prints one JSON
// object: `clarity`, in decibels, and `lag`, in samples, each the mean over the
// series; or a null clarity with the reason. The filter cannot print the
// result, because its output is read as one number a sample and nothing else.
package main

import (
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"programs/evaluator"
)

const (
	// limit is how long the filter may take for all series.
	limit = 10 * time.Second
	// maxOutput bounds the filter's output, in bytes.
	maxOutput = 1 << 20
)

// result is what the evaluation prints.
type result struct {
	// Clarity is how much cleaner the series became; nil when the filter did not
	// play by the rules.
	Clarity *float64 `json:"clarity"`
	// Lag is how far the filter is behind.
	Lag *float64 `json:"lag,omitempty"`
	// Reason says why there is no clarity.
	Reason string `json:"rejected_reason,omitempty"`
}

func main() {
	evaluator.Print(evaluate("filter", limit))
}

func evaluate(dir string, limit time.Duration) (result, error) {
	all := make([]series, seeds)
	for i := range all {
		all[i] = makeSeries(uint64(i + 1))
	}
	answers, err := measure(dir, all, limit)
	if reason, rejected := evaluator.Rejected(err); rejected {
		return result{Reason: reason}, nil
	}
	if err != nil {
		return result{}, err
	}
	return score(all, answers), nil
}

func score(all []series, answers [][]float64) result {
	clarity, lag := 0.0, 0.0
	for i, one := range all {
		c, l := scoreSeries(one, answers[i])
		clarity += c / float64(len(all))
		lag += l / float64(len(all))
	}
	// Six digits are more than matter, and the same on every machine.
	clarity, lag = math.Round(clarity*1e6)/1e6, math.Round(lag*1e6)/1e6
	return result{Clarity: &clarity, Lag: &lag}
}

// measure builds and runs the filter and returns its answer to each series.
func measure(dir string, all []series, limit time.Duration) ([][]float64, error) {
	binary, remove, err := evaluator.Build(dir, "filter.go", "cmp", "errors", "math", "math/bits", "math/cmplx", "slices", "sort")
	if err != nil {
		return nil, err
	}
	defer remove()
	output, err := evaluator.Process{
		Binary: binary, Dir: filepath.Dir(binary), Stdin: strings.NewReader(input(all)), Limit: limit, Output: maxOutput,
	}.Run()
	if err != nil {
		return nil, err
	}
	return parse(string(output), len(all))
}

// input writes one sample a line, and an empty line after each series.
func input(all []series) string {
	var text strings.Builder
	for _, one := range all {
		for _, x := range one.seen {
			text.WriteString(strconv.FormatFloat(x, 'g', -1, 64) + "\n")
		}
		text.WriteString("\n")
	}
	return text.String()
}

// parse reads exactly one number a line for each sample of each series.
func parse(output string, count int) ([][]float64, error) {
	answers, line := make([][]float64, count), 0
	for text := range strings.Lines(output) {
		if line == count*samples {
			return nil, evaluator.Faultf("the filter printed more than %d numbers", line)
		}
		text = strings.TrimSuffix(text, "\n")
		number, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(number) || math.Abs(number) > 1e6 {
			return nil, evaluator.Faultf("line %d of the filter's output: %.40q is no usable number", line+1, text)
		}
		answers[line/samples] = append(answers[line/samples], number)
		line++
	}
	if line != count*samples {
		return nil, evaluator.Faultf("the filter printed %d numbers, not %d", line, count*samples)
	}
	return answers, nil
}
