package tests

// tried is what the ledger says that the tuner tried, in words.
func (w *world) tried() []any {
	var params []any
	for _, event := range w.facts("decided") {
		params = append(params, event["params"])
	}
	return params
}
