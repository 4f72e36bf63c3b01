package score

import (
	"fmt"

	"github.com/org/autoloop/internal/metric"
)

// Thresholds tune the comparison. The zero value is stricter than any that
// makes sense: start from DefaultThresholds.
type Thresholds struct {
	// MinCompositeGain is the band that the net gain must exceed.
	MinCompositeGain metric.Value
	// RegressionCompositeDrop is what the composite of one task may lose.
	RegressionCompositeDrop metric.Value
	// CostTolerance is the band around 1 within which a ratio of costs is 1.
	CostTolerance metric.Value
	// ObjectiveDropIsRegression makes fewer checks passed a hard regression.
	ObjectiveDropIsRegression bool
	// NetLossIsRegression makes a net loss beyond MinCompositeGain one too.
	NetLossIsRegression bool
	// Shared says that the runs of a side share something that those of the other
	// do not, because the sides were not measured in turns: such runs are exchanged
	// whole, since a good hour lifts all tasks of a run.
	Shared bool
}

// DefaultThresholds returns 0.01, 0.05, 0, true and false.
func DefaultThresholds() Thresholds {
	return Thresholds{
		MinCompositeGain:          metric.MustValue("0.01"),
		RegressionCompositeDrop:   metric.MustValue("0.05"),
		ObjectiveDropIsRegression: true,
	}
}

// Err reports a threshold below 0; nil when all can be used.
func (t Thresholds) Err() error {
	for _, each := range []struct {
		name  string
		value metric.Value
	}{
		{"min-composite-gain", t.MinCompositeGain},
		{"regression-composite-drop", t.RegressionCompositeDrop},
		{"cost-tolerance", t.CostTolerance},
	} {
		if each.value.Sign() < 0 {
			return fmt.Errorf("%s %s is below 0; give 0 or more", each.name, each.value)
		}
	}
	return nil
}
