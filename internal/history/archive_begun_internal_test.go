package history

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// asVersion is a checkpoint as an earlier version wrote it.
func asVersion(t *testing.T, c *Checkpoint, version int) []byte {
	t.Helper()
	type object = map[string]json.RawMessage
	change := func(text json.RawMessage, change func(object)) json.RawMessage {
		var fields object
		require.NoError(t, json.Unmarshal(text, &fields))
		change(fields)
		text, err := json.Marshal(fields)
		require.NoError(t, err)
		return text
	}
	without := func(fields object, name string) {
		require.NotEmpty(t, fields[name], name)
		delete(fields, name)
	}
	text, err := c.Encode()
	require.NoError(t, err)
	return change(text, func(checkpoint object) {
		checkpoint["version"] = json.RawMessage(strconv.Itoa(version))
		if version < firstShown {
			without(checkpoint, "shown")
		}
		checkpoint["summary"] = change(checkpoint["summary"], func(summary object) {
			summary["Earlier"] = change(summary["Earlier"], func(earlier object) {
				earlier["Focus"] = change(earlier["Focus"], func(focus object) { without(focus, "Before") })
				if version < firstShown {
					without(earlier, "Focus")
				}
			})
		})
	})
}

// TestAnArchiveThatAnEarlierVersionBegan agrees with replay when this version added
// segments to it.
func TestAnArchiveThatAnEarlierVersionBegan(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	_, segments, _ := sealedLedger(t, 4, 900)
	require.Greater(t, len(segments), 3)
	for version := firstArchived; version < checkpointVersion; version++ {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			t.Parallel()
			full := &Checkpoint{}
			var old *Checkpoint
			for i, segment := range segments {
				var err error
				if i == len(segments)/2 {
					old, err = decodeCheckpoint(asVersion(t, full, version), firstArchived)
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
			again.Sum.summary.Iteration++
			assert.False(t, full.Agrees(again.Sum))
		})
	}
}
