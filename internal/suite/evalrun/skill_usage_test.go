package evalrun

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/agent"
)

// TestSkillUsed has events as the agents print them.
func TestTakenUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent, printed string
		used           bool
	}{
		"claude's tool": {
			"claude",
			`{"type":"assistant","message":{"content":[{"id":"c","input":{"skill":"notes"},"name":"Skill",` +
				`"type":"tool_use"}]}}`, true,
		},
		"claude's tool, as a command": {
			"claude",
			`{"type":"assistant","message":{"content":[{"id":"c","input":{"command":"/notes"},"name":"Skill",` +
				`"type":"tool_use"}]}}`, true,
		},
		"claude's tool, another skill": {
			"claude",
			`{"type":"assistant","message":{"content":[{"id":"c","input":{"skill":"notes-2"},"name":"Skill",` +
				`"type":"tool_use"}]}}`, false,
		},
		"claude reads it": {
			"claude",
			`{"type":"assistant","message":{"content":[{"input":{"file_path":"/w/.claude/skills/notes/SKILL.md"},` +
				`"name":"Read","type":"tool_use"}]}}`, true,
		},
		"claude lists its skills": {
			"claude",
			`{"type":"system","subtype":"init","tools":["Skill"],"skills":["notes"],"slash_commands":["notes"]}`, false,
		},
		"claude speaks of it": {
			"claude",
			`{"type":"assistant","message":{"content":[{"type":"text","text":"There is .claude/skills/notes/SKILL.md,` +
				` which I leave alone"}]}}`, false,
		},
		"a listing names it": {
			"claude",
			`{"type":"user","message":{"content":[{"type":"tool_result","content":"./.claude/skills/notes/SKILL.md"}]}}`, false,
		},
		"a command of the same name": {
			"claude",
			`{"type":"assistant","message":{"content":[{"input":{"command":"notes"},"name":"Bash","type":"tool_use"}]}}`, false,
		},
		"codex reads it": {
			"codex",
			`{"type":"item.completed","item":{"type":"command_execution","command":"/bin/bash -lc 'cat ` +
				`.agents/skills/notes/SKILL.md'","aggregated_output":""}}`, true,
		},
		"codex lists files": {
			"codex",
			`{"type":"item.completed","item":{"type":"command_execution","command":"find .",` +
				`"aggregated_output":".agents/skills/notes/SKILL.md"}}`, false,
		},
		"codex reads another": {
			"codex",
			`{"type":"item.completed","item":{"type":"command_execution","command":"cat ` +
				`.agents/skills/my-notes/SKILL.md .agents/skills/notes/SKILL.md2"}}`, false,
		},
		"opencode's tool": {
			"opencode",
			`{"type":"tool_use","part":{"type":"tool","tool":"skill","state":{"status":"completed",` +
				`"input":{"name":"notes"},"output":"x"}}}`, true,
		},
		"opencode reads it": {
			"opencode",
			`{"type":"tool_use","part":{"type":"tool","tool":"read",` +
				`"state":{"input":{"filePath":"/w/.opencode/skills/notes/SKILL.md"}}}}`, true,
		},
		"opencode's other tool": {
			"opencode",
			`{"type":"tool_use","part":{"type":"tool","tool":"task","state":{"input":{"name":"notes"}}}}`, false,
		},
		"copilot's tool": {
			"copilot",
			`{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"skill","arguments":{"skill":"notes"}}}`, true,
		},
		"copilot's tool, encoded": {
			"copilot",
			`{"type":"tool.execution_start","data":{"toolName":"skill","arguments":"{\"skill\":\"notes\"}"}}`, true,
		},
		"gemini's tool": {
			"gemini",
			`{"type":"tool_use","tool_name":"activate_skill","tool_id":"a","parameters":{"name":"notes"}}`, true,
		},
		"gemini's answer": {
			"gemini",
			`{"type":"tool_result","tool_id":"a","output":"notes skills/notes/SKILL.md"}`, false,
		},
		"a path of another system": {
			"claude",
			`{"type":"assistant",` +
				`"message":{"content":[{"input":{"file_path":"C:\\w\\.claude\\skills\\notes\\SKILL.md"},` +
				`"name":"Read"}]}}`, true,
		},
		"no events: the path is enough": {"command", "read .claude/skills/notes/SKILL.md", true},
		"no events: another path":       {"command", "read .claude/skills/note/SKILL.md", false},
		"lines that are no events":      {"claude", "skills/notes/SKILL.md\n{\n[]\n", false},
		"events after what is no event": {
			"codex",
			"WARN\n" + `{"item":{"command":"cat skills/notes/SKILL.md"}}`, true,
		},
		"the name in no call of any tool": {"claude", `{"type":"skill","skill":"notes","name":"notes"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.used, skillUsed([]byte(c.printed), formOf(c.agent), "notes"))
		})
	}
}

// formOf is what an agent prints: its conversation, unless it is a command.
func formOf(name string) agent.Printed {
	if name == "command" {
		return agent.Words
	}
	return agent.Events
}
