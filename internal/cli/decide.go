package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
)

func (a *App) newDecideCommand() *cobra.Command {
	var direction, best, value, target string
	cmd := &cobra.Command{
		Use:   "decide --value X [--best X] [--direction higher|lower] [--target X]",
		Short: "Compare one value with the best so far, for loops of your own",
		Long: `Decide whether a value improves on the best so far. It reads and writes nothing else.
Without --best the value is the first and counts as improved.`,
		Example: "  iterate job decide --direction lower --best 1.5 --value 1.3 --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if value == "" {
				return misuse.Errorf("--value is missing; give the new value, such as --value 1.3")
			}
			var standard decision.Standard
			better, err := metric.ParseDirection(direction)
			if err != nil {
				return misuse.Errorf("--direction: %w", err)
			}
			standard.Direction = better
			newest, err := flagValue("--value", value)
			if err == nil {
				standard.Best, err = flagValue("--best", best)
			}
			var done *metric.Value
			if err == nil {
				done, err = flagValue("--target", target)
			}
			if err != nil {
				return err
			}
			return a.decide(standard, metric.Measurement{Metric: newest}, done)
		},
	}
	cmd.Flags().StringVar(&direction, "direction", "higher", "`higher` or `lower`: which is better")
	cmd.Flags().StringVar(&best, "best", "", "the best value so far (a number)")
	cmd.Flags().StringVar(&value, "value", "", "the new value (a number)")
	cmd.Flags().StringVar(&target, "target", "", "the value at which the work is done (a number)")
	a.jsonFlag(cmd)
	return cmd
}

// decided is the answer of `iterate job decide`.
type decided struct {
	Improved  bool    `json:"improved"`
	Delta     *string `json:"delta"`
	TargetMet *bool   `json:"target_met"`
}

func (a *App) decide(standard decision.Standard, measured metric.Measurement, target *metric.Value) error {
	made := decision.Decide(standard, measured)
	answer, word := decided{Improved: made.Verdict == decision.Improved}, "no improvement"
	if answer.Improved {
		word = "improved"
	}
	text := fmt.Sprintf("%s: %s\n", word, made.Reasons[0])
	if standard.Best != nil {
		answer.Delta = &made.Delta
		text += fmt.Sprintf("delta: %s\n", made.Delta)
	}
	if target != nil {
		answer.TargetMet = new(standard.Direction.TargetMet(*made.Best, target))
		text += fmt.Sprintf("target %s met: %v\n", target, *answer.TargetMet)
	}
	return a.print(answer, text)
}

// flagValue reads a number from a flag; nil when it is not given.
func flagValue(name, text string) (*metric.Value, error) {
	if text == "" {
		return nil, nil
	}
	value, err := metric.ParseValue(text)
	if err != nil {
		return nil, misuse.Errorf("%s: %w", name, err)
	}
	return &value, nil
}
