package metric

import "cmp"

// Usage is what an agent consumed. Nil is unknown, which is not zero.
type Usage struct {
	// InputTokens counts the prompt, including what came from the cache.
	InputTokens *int64 `json:"input_tokens"`
	// OutputTokens counts what was answered.
	OutputTokens *int64 `json:"output_tokens"`
	// CachedTokens counts the part of the prompt that came from the cache.
	CachedTokens *int64 `json:"cached_tokens"`
	// CostUSD is in US dollars.
	CostUSD *Value `json:"cost_usd"`
	// Turns counts the answers of the model.
	Turns *int `json:"turns"`
	// ToolCalls counts the tools that it used.
	ToolCalls *int `json:"tool_calls"`
}

// MaxCount is more than one piece of work can use of what is counted: tokens,
// dollars, turns or tools.
const MaxCount = 1_000_000_000

// Possible returns the usage without what cannot be: a count below 0 or above
// MaxCount, which is then unknown. Who worked made the numbers up.
func (u Usage) Possible() Usage {
	u.InputTokens, u.OutputTokens, u.CachedTokens = possible(u.InputTokens), possible(u.OutputTokens),
		possible(u.CachedTokens)
	u.Turns, u.ToolCalls = possible(u.Turns), possible(u.ToolCalls)
	if u.CostUSD != nil && (u.CostUSD.Sign() < 0 || u.CostUSD.Cmp(FromInt(MaxCount)) > 0) {
		u.CostUSD = nil
	}
	return u
}

func possible[N int | int64](count *N) *N {
	if count == nil || *count < 0 || *count > MaxCount {
		return nil
	}
	return count
}

// Add returns what two agents consumed together; what is unknown of one is
// unknown of both.
func (u Usage) Add(more Usage) Usage {
	total := Usage{
		InputTokens: both(u.InputTokens, more.InputTokens), OutputTokens: both(u.OutputTokens, more.OutputTokens),
		CachedTokens: both(u.CachedTokens, more.CachedTokens), Turns: both(u.Turns, more.Turns),
		ToolCalls: both(u.ToolCalls, more.ToolCalls),
	}
	if u.CostUSD != nil && more.CostUSD != nil {
		cost := u.CostUSD.Add(*more.CostUSD)
		total.CostUSD = &cost
	}
	return total
}

// Tokens is what is known of input and output together; nil when neither is.
func (u Usage) Tokens() *int64 {
	if u.InputTokens == nil || u.OutputTokens == nil {
		return cmp.Or(u.InputTokens, u.OutputTokens)
	}
	return both(u.InputTokens, u.OutputTokens)
}

func both[N int | int64](a, b *N) *N {
	if a == nil || b == nil {
		return nil
	}
	sum := *a + *b
	return &sum
}
