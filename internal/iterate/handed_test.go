package iterate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/bundle"
	"github.com/org/autoloop/internal/ledger"
	"github.com/org/autoloop/internal/steer"
)

const handedEvents = `{"event":"measured","run_id":"r","iteration":1,"role":"baseline","metric":1,"samples":[1]}
{"event":"measured","run_id":"r","iteration":2,"role":"candidate","stage":"once","metric":2,"samples":[2],"numbers":{"a":1}}
{"event":"proposed","run_id":"r","iteration":2,"proposal":1,"outcome":"accepted","metric":2,"lessons":["a\nb"]}
{"event":"decided","run_id":"r","iteration":2,"outcome":"accepted","verdict":"improved","metric":2,"reasons":["a\nb"],"commit":"c","lease":{"host":"h"},"key":"k"}
`

func ofIteration(events string, kind bundle.Kind) bundle.Bundle {
	return bundle.Bundle{Manifest: bundle.Manifest{Kind: kind, Iteration: 2, Run: "r", Candidate: "c"}, Events: []byte(events)}
}

func TestUnpackKeepsWhatAProposalSays(t *testing.T) {
	t.Parallel()
	h, err := unpack(ofIteration(handedEvents, bundle.Iteration))
	require.NoError(t, err)
	assert.Len(t, h.zero, 1)
	assert.Len(t, h.measured, 2)
	require.NotNil(t, h.decided)
	assert.True(t, h.kept())
	assert.Equal(t, []string{"a b"}, h.decided.Reasons, "reasons are lines")
	assert.Empty(t, h.decided.Commit, "what only the publishing job knows is dropped")
	assert.Nil(t, h.decided.Lease)
	assert.Empty(t, h.decided.Key)
}

// FuzzUnpack looks for events on which reading panics, or that are refused
// otherwise than by a *RefusedError.
func FuzzUnpack(f *testing.F) {
	f.Add(handedEvents, false)
	f.Add(`{"event":"checked","run_id":"r","iteration":2,"reason":"build"}`+"\n", true)
	f.Add(`{"event":"finished","run_id":"r","iteration":2,"not_before":"2026-01-01T00:00:00Z","usage":{"cost_usd":-1}}`+"\n", true)
	f.Fuzz(func(t *testing.T, events string, fix bool) {
		kind := bundle.Iteration
		if fix {
			kind = bundle.Fix
		}
		h, err := unpack(ofIteration(events, kind))
		if err != nil {
			var refused *RefusedError
			require.ErrorAs(t, err, &refused)
			return
		}
		for _, e := range append(h.zero, h.measured...) {
			assert.Contains(t, []ledger.Kind{ledger.Measured, ledger.Proposed}, e.Kind)
		}
	})
}

func TestAMarkGoesNoFurtherThanWhatThereIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mark                steer.Mark
		there, before, want string
	}{
		{steer.Mark{Issue: 5, Review: 6}, "5 6", "1 1", "5 6"},
		{steer.Mark{Issue: 5, Review: 6}, "9 9", "1 1", "5 6"},
		{steer.Mark{Issue: 999, Review: 999}, "9 8", "1 1", "9 8"},
		{steer.Mark{}, "9 8", "4 3", "4 3"},
		{steer.Mark{Issue: 5}, "", "4 3", ""},
	} {
		assert.Equal(t, c.want, until(c.mark, c.there, c.before))
	}
}
