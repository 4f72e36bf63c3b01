package ledger

import "time"

// Spent is what the iterations of a period used.
type Spent struct {
	Iterations int
	Tokens     int64
	USD        float64
	Minutes    float64
	// Unknown counts the iterations whose cost is not known.
	Unknown int
}

// Spent adds up the iterations decided since from.
func (b *Books) Spent(from time.Time) Spent {
	var s Spent
	for _, a := range b.Attempts {
		if a.Time.Before(from) {
			continue
		}
		s.Iterations++
		for _, seconds := range a.Durations {
			s.Minutes += seconds / 60
		}
		if a.Usage == nil || (a.Usage.CostUSD == nil && a.Usage.OutputTokens == nil) {
			if a.Agent != "tuner" {
				s.Unknown++
			}
			continue
		}
		for _, tokens := range []*int64{a.Usage.InputTokens, a.Usage.OutputTokens} {
			if tokens != nil {
				s.Tokens += *tokens
			}
		}
		if a.Usage.CostUSD != nil {
			s.USD += a.Usage.CostUSD.Float64()
		}
	}
	return s
}
