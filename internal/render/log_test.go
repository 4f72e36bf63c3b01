package render_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history"

	"github.com/org/autoloop/internal/render"
)

func TestLogOfADecision(t *testing.T) {
	t.Parallel()
	events := ledger(t, `{"event":"decided","iteration":7,"time":"2026-01-02T03:04:05Z","run_id":"r",`+
		`"outcome":"rejected","metric":1.2345678,"reasons":[{"kind":"said","words":"slower"},`+
		`{"kind":"said","words":"by\nmuch"}],"evidence":[{"p_value":0.5},{"p_value":0.25}],"commit":"c0ffee",`+
		`"durations":{"propose":2,"measure":4},"agent":"a","model":"m",`+
		`"summary":"tried","changed":["x","y"],"usage":{"turns":2,"input_tokens":700,"cost_usd":0.0123}}`,
		`{"event":"measured","role":"baseline","samples":[1.2345678,1.2345678],"seconds":2,"prepare_seconds":0.5}`,
		`{"event":"measured","role":"candidate","stage":"once","samples":[1.2345678],"seconds":3}`)
	e := history.Of[*history.Decided](events)[0]
	a := render.Account{}
	add(&a, events...)
	assert.Equal(t, [][]string{{"7", "2026-01-02 03:04", "not kept", "1.23", "—", "slower; by much"}},
		render.LogTable(a).Rows)
	records := render.LogRecords(a)
	assert.Equal(t, []string{
		"7", "2026-01-02T03:04:05Z", "rejected", "1.2345678", "", "", "0.25", "c0ffee",
		"tried", "a", "2", "700", "0.0123",
	}, records[1])
	assert.Len(t, records[1], len(records[0]))
	assert.Equal(t, "iteration  7\ntime       2026-01-02T03:04:05Z\noutcome    not kept\nsummary    tried\n"+
		"agent      a m\nmetric     1.23\n"+
		"one run    3 s\ntook       12 s: agent 2 s, evaluation 7 s, trees and setup 2 s, git and GitHub 1 s\n"+
		"used       2 turns, 700 tokens, 0.0123 USD\n"+
		"commit     c0ffee\nchanged    x, y\nreason     slower\nreason     by much\n",
		render.Detail(history.Attempt{
			Decided: e, Took: 12 * time.Second, Measured: history.Of[*history.Measured](events),
		}))
	e.Outcome = history.Accepted
	assert.Equal(t, "tried", render.LogTable(a).Rows[0][5], "what was kept is said by what it did")
}

func TestFailedOutputIsTheLast(t *testing.T) {
	t.Parallel()
	failed := func(lines ...string) string {
		past := history.Replay(ledger(t, append(lines, `{"event":"decided","run_id":"r","iteration":1}`)...))
		_, printed, _ := strings.Cut(render.Detail(past.Attempt(1)), "\n\n")
		return printed
	}
	const one = `{"event":"measured","iteration":1,"run_id":"r","role":"candidate","problem":"exit code 1","output":"one\n"}`
	two := strings.Replace(one, "one", `two\nthree`, 1)
	assert.Equal(t, "the evaluation printed, at its end:\n  two\n  three\n", failed(one, two,
		strings.Replace(one, "candidate", "incumbent", 1), strings.Replace(one, `"r"`, `"other"`, 1)))
	assert.Empty(t, failed(one, strings.Replace(two, `"problem":"exit code 1",`, "", 1)), "the last one worked")
}
