package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/process"
)

// TestWhereAgentsLookAndWhatTheyTell has every agent of docs/explain/skills.md and
// docs/howto/agents.md: where it looks for skills, and whether it gives its whole
// conversation.
func TestWhereAgentsLookAndWhatTheyTell(t *testing.T) {
	t.Parallel()
	agents := append(CommandLines(commandline.All(), process.NewRunner(), nil, time.Now), &Models{}, &Command{})
	want := map[string]Project{
		"claude": {".claude/skills", Events}, "codex": {".agents/skills", Events}, "gemini": {".gemini/skills", Events},
		"opencode": {".opencode/skills", Events},
		"copilot":  {".github/skills", Events}, "cursor": {".cursor/skills", Words},
		"models": {".claude/skills", Markdown}, "command": {".claude/skills", Words},
	}
	assert.Len(t, want, len(agents))
	for _, one := range agents {
		assert.Equal(t, want[one.Name()], ProjectOf(one), one.Name())
	}
}
