package history_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history"
)

// TestWhoExecutedIsPartOfTheMeasurement: whatever of it changes is named; what an
// earlier version of this program did not record is not taken for a change.
func TestWhoExecutedIsPartOfTheMeasurement(t *testing.T) {
	t.Parallel()
	was := history.Executor{
		Agent: "claude", Version: "2.1.0", Model: "m", Command: "sh x", CommandSHA256: "1", Judge: "claude with m",
		JudgeVersion: "2.1.0", Server: "serve",
	}
	for want, change := range map[string]func(*history.Executor){
		"":                               func(*history.Executor) {},
		"the executor changed":           func(e *history.Executor) { e.Agent = "codex" },
		"its version changed":            func(e *history.Executor) { e.Version = "2.2.0" },
		"the model changed":              func(e *history.Executor) { e.Model = "" },
		"its command changed":            func(e *history.Executor) { e.Command = "sh y" },
		"what its command names changed": func(e *history.Executor) { e.CommandSHA256 = "2" },
		"the judge changed":              func(e *history.Executor) { e.Judge, e.JudgeVersion = "an API", "" },
		"the judge's version changed":    func(e *history.Executor) { e.JudgeVersion = "2.2.0" },
		"the server's commands changed":  func(e *history.Executor) { e.Server = "" },
		"the model, the judge changed":   func(e *history.Executor) { e.Model, e.Judge = "n", "codex" },
	} {
		now := was
		change(&now)
		assert.Equal(t, want, was.Changed(&now))
	}
	earlier := was
	earlier.JudgeVersion = ""
	assert.Empty(t, earlier.Changed(&was), "an earlier version did not record it")
	assert.Empty(t, was.Changed(&earlier), "the program did not say it this time")
	assert.Empty(t, (*history.Executor)(nil).Changed(&was))
	assert.Equal(t, "who executed before is not known", (&history.Executor{}).Changed(&was))
}
