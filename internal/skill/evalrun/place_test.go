package evalrun

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestWhereAgentsLookAndWhatTheyTell has every agent of docs/algorithm.md and
// docs/agents.md: where it looks for skills, and whether it gives its whole
// conversation.
func TestWhereAgentsLookAndWhatTheyTell(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		dir   string
		tells bool
	}{
		"claude": {".claude/skills", true}, "codex": {".agents/skills", true}, "gemini": {".gemini/skills", true}, "opencode": {".opencode/skills", true},
		"copilot": {".github/skills", true}, "cursor": {".cursor/skills", false}, "models": {".claude/skills", true}, "command": {".claude/skills", false},
	} {
		assert.Equal(t, want.dir, skillsDir(name), name)
		assert.Equal(t, want.tells, streams(name) || writes(name), name)
	}
}
