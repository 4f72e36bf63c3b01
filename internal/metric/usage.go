package metric

import "cmp"

// Limit bounds what work may consume that models do.
type Limit struct {
	// Tokens counts input and output; 0 is no bound.
	Tokens int64
	// CostUSD is in US dollars; nil is no bound.
	CostUSD *Value
}

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
	Turns *int64 `json:"turns"`
	// ToolCalls counts the tools that it used.
	ToolCalls *int64 `json:"tool_calls"`
}

// MaxCount is more than one piece of work can use of what is counted: tokens,
// dollars, turns or tools.
const MaxCount = 1_000_000_000

// Possible returns the usage without what cannot be: a count below 0 or above
// MaxCount, which is then unknown. Who worked made the numbers up.
func (u Usage) Possible() Usage {
	for _, count := range counts(&u) {
		if n := *count; n != nil && (*n < 0 || *n > MaxCount) {
			*count = nil
		}
	}
	if u.CostUSD != nil && (u.CostUSD.Sign() < 0 || u.CostUSD.Cmp(FromInt(MaxCount)) > 0) {
		u.CostUSD = nil
	}
	return u
}

func counts(u *Usage) [5]**int64 {
	return [...]**int64{&u.InputTokens, &u.OutputTokens, &u.CachedTokens, &u.Turns, &u.ToolCalls}
}

// Add returns what two agents consumed together; what is unknown of one is
// unknown of both.
func (u Usage) Add(more Usage) Usage {
	total := counts(&u)
	for i, count := range counts(&more) {
		*total[i] = both(*total[i], *count)
	}
	if u.CostUSD != nil && more.CostUSD != nil {
		u.CostUSD = new(u.CostUSD.Add(*more.CostUSD))
	} else {
		u.CostUSD = nil
	}
	return u
}

// Tokens is what is known of input and output together; nil when neither is.
func (u Usage) Tokens() *int64 { return Known(u.InputTokens, u.OutputTokens) }

// Known adds up what is known of two counts; nil when neither is.
func Known(a, b *int64) *int64 {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return new(*a + *b)
}

func both(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}
