package loop

import (
	"context"

	"github.com/org/autoloop/internal/loop/evaluation"
)

// run runs an evaluation. One that fails because scripts end at whatever fails in
// them, which they did not always, is run again as it was before where the baseline
// is of that time.
func (r *measurer) run(ctx context.Context, request evaluation.Request) (evaluation.Result, error) {
	request.Lenient = r.lenient
	outcome, err := r.eval.Run(ctx, request)
	if err != nil || outcome.Strictness == "" || !r.older() {
		return outcome, err
	}
	request.Lenient = true
	again, err := r.eval.Run(ctx, request)
	if err == nil && again.Problem == "" {
		r.lenient = true
		r.warn("the evaluation passes over an error: %s. When the program changes, its evaluation will fail there: fix it, or begin the script with `set +u +o pipefail`", outcome.Strictness)
	}
	return again, err
}

// older reports whether the baseline was measured by a version that passed over
// errors, and the program is as it was then.
func (r *measurer) older() bool {
	sum := &r.records.sum
	if sum.Best == nil || sum.Strict {
		return false
	}
	defined, err := r.definition()
	return err == nil && sum.Definition == short(defined)
}
