package evalrun_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/agent/models/client"
	"github.com/org/autoloop/internal/agent/models/client/modeltest"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/work"
	"github.com/org/autoloop/tests/golden"
)

// writes is an executor's answer of 1050 tokens that writes a file; garbled is
// one whose edit does not fit.
const (
	writes  = "PLAN: write\nFILE: outputs/a.txt\n<<<<<<< WHOLE\nx\n>>>>>>> WHOLE\n"
	garbled = "PLAN: write\nFILE: outputs/a.txt\n<<<<<<< SEARCH\nnowhere\n=======\nx\n>>>>>>> REPLACE\n"
)

// asked are the executors of a suite of four cases, one after the other, with a
// limit of tokens.
func asked(t *testing.T, tokens int64, answers ...string) (result evalrun.Result, bounds []int, err error) {
	t.Helper()
	cases := ""
	for i := range 4 {
		cases += fmt.Sprintf(`,{"id": %d, "prompt": "p", "deterministic_checks": [{"type": "file_exists", "file": `+
			`"a.txt"}]}`, i+1)
	}
	w := newWorld(t, "["+cases[1:]+"]")
	var list []modeltest.Answer
	for _, text := range answers {
		list = append(list, modeltest.Text(text))
	}
	server := modeltest.New(t, list...)
	o := w.options("")
	o.Agent = &agent.Models{
		Complete: (&client.Client{Pause: 1}).Complete,
		Endpoint: models.Endpoint{API: models.OpenAI, URL: server.URL + "/v1", Model: "m"}, Now: o.Now,
	}
	o.Jobs, o.Budget = 1, work.Budget{Tokens: tokens}
	result, err = w.run(t.Context(), o)
	for _, r := range server.Requests() {
		var body struct {
			Most int `json:"max_tokens"`
		}
		require.NoError(t, json.Unmarshal(r.Body, &body))
		bounds = append(bounds, body.Most)
	}
	return result, bounds, err
}

func TestExecutorsAreHeldToWhatIsLeft(t *testing.T) {
	t.Parallel()
	result, bounds, err := asked(t, 4000, writes, writes, writes, writes)
	require.NoError(t, err, "the last case may reach the limit")
	assert.Equal(t, []int{4000, 2950, 1900, 850}, bounds)
	assert.Equal(t, int64(4*1050), *result.Expense.Tokens)
	assert.Equal(t, 4, result.Expense.UnknownUSD, "the model has no price")

	result, bounds, err = asked(t, 3000, writes, writes, writes)
	var over *work.NoResultError
	require.ErrorAs(t, err, &over)
	golden.Row(t, "the budget of 3000", err)
	assert.Equal(t, []int{3000, 1950, 900}, bounds)
	assert.Equal(t, int64(3*1050), *result.Expense.Tokens, "what was used is known without a result")

	_, bounds, err = asked(t, 0, writes, writes, writes, writes)
	require.NoError(t, err)
	assert.Equal(t, []int{0, 0, 0, 0}, bounds, "without a limit nobody is held to one")
}

// TestExecutorStopsAtLimit is no case that failed.
func TestExecutorStopsAtLimit(t *testing.T) {
	t.Parallel()
	result, _, err := asked(t, 2000, writes, garbled)
	var over *work.NoResultError
	require.ErrorAs(t, err, &over)
	require.ErrorContains(t, err, "case 2: agent models: budget: its edits")
	assert.Equal(t, int64(2*1050), *result.Expense.Tokens)
}
