package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
)

// decideOptions are the flags of `iterate job decide`.
type decideOptions struct {
	direction, best, value, target string
	json                           bool
}

func newDecideCommand(env Env) *cobra.Command {
	var o decideOptions
	cmd := &cobra.Command{
		Use:   "decide --value X [--best X] [--direction higher|lower] [--target X]",
		Short: "Compare one value with the best so far, for loops of your own",
		Long: `Decide whether a value improves on the best so far. It reads and writes nothing else.
Without --best the value is the first and counts as improved.`,
		Example: "  iterate job decide --direction lower --best 1.5 --value 1.3 --json",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return decide(env, o) },
	}
	cmd.Flags().StringVar(&o.direction, "direction", "higher", "`higher` or `lower`: which is better")
	cmd.Flags().StringVar(&o.best, "best", "", "the best value so far (a number)")
	cmd.Flags().StringVar(&o.value, "value", "", "the new value (a number)")
	cmd.Flags().StringVar(&o.target, "target", "", "the value at which the work is done (a number)")
	cmd.Flags().BoolVar(&o.json, "json", false, "print a JSON object")
	return cmd
}

// decided is the answer of `iterate job decide`.
type decided struct {
	Improved  bool    `json:"improved"`
	Delta     *string `json:"delta"`
	TargetMet *bool   `json:"target_met"`
}

func decide(env Env, o decideOptions) error {
	direction, err := metric.ParseDirection(o.direction)
	if err != nil {
		return misuse.Errorf("--direction: %w", err)
	}
	if o.value == "" {
		return misuse.Errorf("--value is missing; give the new value, such as --value 1.3")
	}
	value, err := flagValue("--value", o.value)
	if err != nil {
		return err
	}
	best, err := flagValue("--best", o.best)
	if err != nil {
		return err
	}
	target, err := flagValue("--target", o.target)
	if err != nil {
		return err
	}
	made := decision.Decide(decision.Standard{Direction: direction, Best: best, Target: target},
		metric.Measurement{Metric: value})
	answer := decided{Improved: made.Verdict == decision.Improved}
	if best != nil {
		answer.Delta = &made.Delta
	}
	if target != nil {
		answer.TargetMet = &made.TargetMet
	}
	if o.json {
		return json.NewEncoder(env.Stdout).Encode(answer)
	}
	word := "no improvement"
	if answer.Improved {
		word = "improved"
	}
	fmt.Fprintf(env.Stdout, "%s: %s\n", word, made.Reasons[0])
	if best != nil {
		fmt.Fprintf(env.Stdout, "delta: %s\n", made.Delta)
	}
	if target != nil {
		fmt.Fprintf(env.Stdout, "target %s met: %v\n", target, made.TargetMet)
	}
	return nil
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
