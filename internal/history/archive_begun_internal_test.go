package history

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAnArchiveThatAnEarlierVersionBegan agrees with replay when this version added
// segments to it.
func TestAnArchiveThatAnEarlierVersionBegan(t *testing.T) {
	_, segments, _ := sealedLedger(t, 4, 900)
	require.Greater(t, len(segments), 3)
	half := len(segments) / 2
	full := &Checkpoint{}
	var err error
	var old *Checkpoint
	for i, segment := range segments {
		if i == half {
			text, err := full.Encode()
			require.NoError(t, err)
			var fields map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(text, &fields))
			delete(fields, "shown")
			fields["version"] = json.RawMessage("4")
			text, err = json.Marshal(fields)
			require.NoError(t, err)
			old, err = decodeCheckpoint(text, firstArchived)
			require.NoError(t, err)
			assert.True(t, full.Agrees(old))
		}
		full, err = full.Extend(segment)
		require.NoError(t, err)
		if old != nil {
			old, err = old.Extend(segment)
			require.NoError(t, err)
		}
	}
	text, err := (&Archive{Sum: old}).Encode() // a second prune-history
	require.NoError(t, err)
	again, err := DecodeArchive(text)
	require.NoError(t, err)
	assert.True(t, full.Agrees(again.Sum), "audit --archive one --archive other")
}
