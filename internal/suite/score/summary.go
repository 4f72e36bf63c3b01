package score

import (
	"fmt"
	"strconv"

	"github.com/org/autoloop/internal/decision"
)

func (c *comparer) summary() string {
	net := "the net composite gain could not be computed"
	if c.NetGain != nil {
		net = fmt.Sprintf("net composite gain %s over %s", c.NetGain.Signed(), counted(c.Totals.Tasks, "task"))
		if c.PValue != nil && c.NetGain.Sign() > 0 {
			net += fmt.Sprintf(" (%s)", chanceText(*c.PValue))
		}
	}
	switch {
	case c.Totals.Tasks == 0:
		return fmt.Sprintf("%s: nothing to compare", c.Verdict)
	case len(c.Regressions) > 0:
		return fmt.Sprintf("%s: %s, %s", c.Verdict, counted(len(c.Regressions), "hard regression"), net)
	case c.Verdict == decision.Improved && c.Promotable:
		return fmt.Sprintf("%s: %s, no hard regression", c.Verdict, net)
	case c.Verdict == decision.Improved:
		return fmt.Sprintf("%s: %s, no hard regression; not promotable, because it is a single run", c.Verdict, net)
	default:
		return fmt.Sprintf("%s: %s%s", c.Verdict, net, c.why())
	}
}

// why says what keeps a gain from being one.
func (c *comparer) why() string {
	band := c.Thresholds.MinCompositeGain
	switch {
	case c.NetGain == nil || c.NetGain.Sign() <= 0:
		return ""
	case c.NetGain.Cmp(band) <= 0:
		return fmt.Sprintf(", which does not exceed %s", band)
	case c.held != "":
		return ", held back by " + c.held
	default:
		return ", which may be chance"
	}
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// chanceText renders a probability: p = 0.0079.
func chanceText(p float64) string {
	if p < 0.0001 {
		return "p < 0.0001"
	}
	return "p = " + strconv.FormatFloat(p, 'g', 2, 64)
}
