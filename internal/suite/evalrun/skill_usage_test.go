package evalrun

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
)

// TestSkillIsUsed has events as the agents print them, "; " between two, and whether they show
// that the skill notes was taken up.
func TestSkillIsUsed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/events.tsv")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		row := strings.SplitN(strings.TrimSpace(line), "\t", 3)
		printed := strings.ReplaceAll(row[2], "; ", "\n")
		assert.Equal(t, row[0] == "true", skillUsed([]byte(printed), agent.Events, "notes"), row[1])
	}
	assert.True(t, skillUsed([]byte("read .claude/skills/notes/SKILL.md"), agent.Words, "notes"), "the path is enough")
	assert.False(t, skillUsed([]byte("notes: read .claude/skills/note/SKILL.md"), agent.Words, "notes"))
}
