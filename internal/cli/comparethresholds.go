package cli

import (
	"github.com/spf13/pflag"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/tasks/score"
)

// thresholdFlags are the flags that tune a comparison.
type thresholdFlags struct {
	program            string
	gain, drop, cost   string
	objective, netLoss bool
}

func (f *thresholdFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.program, "program", "", "take the thresholds from the frontmatter of this program `file`; flags that are given win")
	flags.StringVar(&f.gain, "min-composite-gain", "0.01", "the net gain that must be exceeded")
	flags.StringVar(&f.drop, "regression-composite-drop", "0.05", "what the composite of one task may lose")
	flags.StringVar(&f.cost, "cost-tolerance", "0", "costs within 1 ± this of the baseline's count as equal")
	flags.BoolVar(&f.objective, "objective-drop-is-regression", true, "fewer checks passed is a hard regression")
	flags.BoolVar(&f.netLoss, "net-loss-is-regression", false, "a net loss beyond --min-composite-gain is a hard regression")
}

// read returns the thresholds: the flags that were given, then the program's,
// then the defaults.
func (f *thresholdFlags) read(env Env, flags *pflag.FlagSet) (score.Thresholds, error) {
	thresholds := score.DefaultThresholds()
	if f.program != "" {
		var err error
		if thresholds, err = programThresholds(env, f.program); err != nil {
			return thresholds, err
		}
	}
	for _, number := range []struct {
		name, text string
		to         *metric.Value
	}{
		{"min-composite-gain", f.gain, &thresholds.MinCompositeGain},
		{"regression-composite-drop", f.drop, &thresholds.RegressionCompositeDrop},
		{"cost-tolerance", f.cost, &thresholds.CostTolerance},
	} {
		if !flags.Changed(number.name) {
			continue
		}
		value, err := metric.ParseValue(number.text)
		if err != nil {
			return thresholds, misuse.Errorf("--%s: %w", number.name, err)
		}
		*number.to = value
	}
	if flags.Changed("objective-drop-is-regression") {
		thresholds.ObjectiveDropIsRegression = f.objective
	}
	if flags.Changed("net-loss-is-regression") {
		thresholds.NetLossIsRegression = f.netLoss
	}
	if err := thresholds.Err(); err != nil {
		return thresholds, misuse.Errorf("--%w", err)
	}
	return thresholds, nil
}

func programThresholds(env Env, name string) (score.Thresholds, error) {
	p := memory.Programs{Parse: program.Parse}.File(env.Path(name))
	if err := p.Err(); err != nil {
		return score.Thresholds{}, misuse.New(err)
	}
	return app.Thresholds(p)
}
