package history_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
)

// TestMeasurementNamesExecutor: whatever of it changes is named; what an
// earlier version of this program did not record is not taken for a change.
func TestMeasurementNamesExecutor(t *testing.T) {
	t.Parallel()
	was := history.Executor{
		Agent: "claude", Version: "2.1.0", Model: "m", Command: "sh x", CommandSHA256: "1", Judge: "claude with m",
		JudgeVersion: "2.1.0", Server: "serve",
	}
	for change, want := range map[string]string{
		`{}`: "", `{"agent":"codex"}`: "the executor changed", `{"version":"2.2.0"}`: "its version changed",
		`{"model":""}`: "the model changed", `{"command":"sh y"}`: "its command changed",
		`{"command_sha256":"2"}`: "what its command names changed", `{"server":""}`: "the server's commands changed",
		`{"judge":"an API","judge_version":""}`: "the judge changed",
		`{"judge_version":"2.2.0"}`:             "the judge's version changed",
		`{"model":"n","judge":"codex"}`:         "the model, the judge changed",
	} {
		now := was
		require.NoError(t, json.Unmarshal([]byte(change), &now))
		assert.Equal(t, want, was.Changed(&now))
	}
	earlier := was
	earlier.JudgeVersion = ""
	assert.Empty(t, earlier.Changed(&was), "an earlier version did not record it")
	assert.Empty(t, was.Changed(&earlier), "the program did not say it this time")
	assert.Empty(t, (*history.Executor)(nil).Changed(&was))
	assert.Equal(t, "who executed before is not known", (&history.Executor{}).Changed(&was))
}
