package history

// plus is the usage of two proposals together; what is unknown of one is
// unknown of both, and nil is none.
func (u *Usage) plus(more *Usage) *Usage {
	if u == nil || more == nil {
		if u == nil {
			return more
		}
		return u
	}
	total := &Usage{
		InputTokens: total(u.InputTokens, more.InputTokens), OutputTokens: total(u.OutputTokens, more.OutputTokens),
		CachedTokens: total(u.CachedTokens, more.CachedTokens), Turns: total(u.Turns, more.Turns), ToolCalls: total(u.ToolCalls, more.ToolCalls),
	}
	if u.CostUSD != nil && more.CostUSD != nil {
		cost := u.CostUSD.Add(*more.CostUSD)
		total.CostUSD = &cost
	}
	return total
}

func total[N int | int64](a, b *N) *N {
	if a == nil || b == nil {
		return nil
	}
	both := *a + *b
	return &both
}
