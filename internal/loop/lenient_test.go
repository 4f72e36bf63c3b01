package loop

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
)

// evaluatorFunc evaluates by a function.
type evaluatorFunc func(request evaluation.Request) (evaluation.Result, error)

// Run is a run of the evaluation.
func (f evaluatorFunc) Run(_ context.Context, request evaluation.Request) (evaluation.Result, error) {
	return f(request)
}

// TestScriptsThatWereWrittenForALenientShell: what fails in the strict shell alone runs
// leniently where the baseline is of a version that had no other, and stays so.
func TestScriptsThatWereWrittenForALenientShell(t *testing.T) {
	t.Parallel()
	errGone := errors.New("gone")
	strict := evaluation.Result{Problem: "exit code 1", Strictness: "a command of the pipe fails"}
	for name, c := range map[string]struct {
		sum     history.Summary
		changed bool // the program's evaluation, since the baseline
		results []evaluation.Result
		err     error
		asked   []bool // each run, whether leniently
		problem string
		warns   bool
	}{
		"well":                          {history.Summary{Best: metricOf("1")}, false, []evaluation.Result{ran("1")}, nil, []bool{false}, "", false},
		"it fails for another reason":   {history.Summary{Best: metricOf("1")}, false, []evaluation.Result{failure}, nil, []bool{false}, "exit code 3", false},
		"an older baseline":             {history.Summary{Best: metricOf("1")}, false, []evaluation.Result{strict, ran("1")}, nil, []bool{false, true}, "", true},
		"an older one, and it fails":    {history.Summary{Best: metricOf("1")}, false, []evaluation.Result{strict, failure}, nil, []bool{false, true}, "exit code 3", false},
		"a strict baseline":             {history.Summary{Best: metricOf("1"), Strict: true}, false, []evaluation.Result{strict}, nil, []bool{false}, "exit code 1", false},
		"no baseline":                   {history.Summary{}, false, []evaluation.Result{strict}, nil, []bool{false}, "exit code 1", false},
		"an older one of another":       {history.Summary{Best: metricOf("1")}, true, []evaluation.Result{strict}, nil, []bool{false}, "exit code 1", false},
		"our own failure":               {history.Summary{Best: metricOf("1")}, false, nil, errGone, []bool{false}, "", false},
		"our own failure the next time": {history.Summary{Best: metricOf("1")}, false, []evaluation.Result{strict}, errGone, []bool{false, true}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := journalOf(t, "")
			j.records.sum = c.sum
			if !c.changed {
				of, err := j.identify(nil)
				require.NoError(t, err)
				j.records.sum.Definition = of.Definition
			}
			var asked []bool
			r := &measurer{journal: j, eval: evaluatorFunc(func(request evaluation.Request) (evaluation.Result, error) {
				asked = append(asked, request.Lenient)
				if len(asked) > len(c.results) {
					return evaluation.Result{}, c.err
				}
				return c.results[len(asked)-1], nil
			})}
			got, err := r.run(t.Context(), evaluation.Request{})
			require.ErrorIs(t, err, c.err)
			assert.Equal(t, c.asked, asked)
			assert.Equal(t, c.problem, got.Problem)
			assert.Equal(t, c.warns, r.lenient)
			assert.Equal(t, c.warns, len(r.warnings) == 1, "%v", r.warnings)
			if c.warns {
				assert.Contains(t, r.warnings[0], strict.Strictness)
				c.results = []evaluation.Result{strict, strict, ran("1")}
				_, err = r.run(t.Context(), evaluation.Request{})
				require.NoError(t, err)
				assert.Equal(t, []bool{false, true, true}, asked, "the next run begins so")
				assert.Len(t, r.warnings, 1)
			}
		})
	}
}
