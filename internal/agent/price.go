package agent

import (
	_ "embed" // For the table of prices.
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
)

//go:embed prices.json
var pricesJSON []byte

// priceTable is the table of prices.json: what models ask for a million tokens, in US
// dollars.
type priceTable struct {
	AsOf   string `json:"as_of"`
	Models map[string]struct{ Input, Cached, Output metric.Value }
}

var prices = sync.OnceValue(func() priceTable {
	var table priceTable
	if err := json.Unmarshal(pricesJSON, &table); err != nil {
		panic(fmt.Sprintf("prices.json: %v", err)) // A test reads it.
	}
	return table
})

// PricesAsOf is the day, as 2006-01-02, on which the table of prices was made.
func PricesAsOf() string { return prices().AsOf }

// dated is the end of a model's name that says which day's it is.
var dated = lazyregexp.New(`-(?:20\d{6}|20\d\d-\d\d-\d\d|latest)$`)

// Price is the list price of a model's work in US dollars: whole input tokens
// less the cached ones, the cached ones and the output ones, each at its price
// for a million. It is an upper bound where a provider gives a discount, and
// leaves out what long prompts and writing to a cache cost more. Nil when the
// model is not in the table or the tokens are not known.
func Price(model string, usage metric.Usage) *metric.Value {
	// Without its provider and without its date.
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	p, known := prices().Models[name]
	if !known {
		p, known = prices().Models[dated().ReplaceAllString(name, "")]
	}
	if !known || usage.InputTokens == nil || usage.OutputTokens == nil {
		return nil
	}
	cached := int64(0)
	if usage.CachedTokens != nil {
		cached = min(*usage.CachedTokens, *usage.InputTokens)
	}
	total := p.Input.Mul(metric.FromInt(*usage.InputTokens - cached)).
		Add(p.Cached.Mul(metric.FromInt(cached))).
		Add(p.Output.Mul(metric.FromInt(*usage.OutputTokens))).
		Mul(metric.MustValue("0.000001"))
	return &total
}
