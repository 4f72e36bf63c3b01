package evalrun

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/agent"
)

// skillUsed reports whether what an agent printed shows that it used a skill: a
// tool call that names the skill's SKILL.md, or names the skill to a tool that
// loads skills. Words of the model and what tools answered are no use of it: a
// listing of files has the same path. Of an agent that prints no events the
// path anywhere in what it printed counts.
func skillUsed(printed []byte, form agent.Printed, skill string) bool {
	if form != agent.Events {
		return bytes.Contains(printed, []byte("skills/"+skill+"/"+SkillFile))
	}
	for line := range bytes.Lines(printed) {
		var event any
		if json.Unmarshal(line, &event) == nil && (use{skill: skill}).in(event, "", maxDepth) {
			return true
		}
	}
	return false
}

// maxDepth bounds how deep events are looked into.
const maxDepth = 50

// use looks for the use of a skill in events.
type use struct{ skill string }

// in looks through an event for tool calls. tool is the name of the tool around
// this value, "" outside of one.
func (u use) in(value any, tool string, depth int) bool {
	if depth == 0 {
		return false
	}
	switch value := value.(type) {
	case []any:
		return slices.ContainsFunc(value, func(v any) bool { return u.in(v, tool, depth-1) })
	case map[string]any:
		if named := toolOf(value); named != "" {
			tool = named
		}
		for key, inner := range value {
			switch key {
			case "input", "arguments", "args", "parameters", "command":
				if u.call(inner, key, tool, depth-1) {
					return true
				}
			default:
				if u.in(inner, tool, depth-1) {
					return true
				}
			}
		}
	}
	return false
}

// toolOf is the name of the tool that an object is a call of, "" for none.
func toolOf(object map[string]any) string {
	for _, key := range []string{"tool", "tool_name", "toolName", "name"} {
		if name, is := object[key].(string); is {
			return name
		}
	}
	return ""
}

// skillPath is followed by nothing that belongs to a name.
func (u use) skillPath() *regexp.Regexp {
	return regexp.MustCompile(`(^|[^A-Za-z0-9_.-])skills[/\\]+` + regexp.QuoteMeta(u.skill) + `[/\\]+` +
		regexp.QuoteMeta(SkillFile) + `\b`)
}

// call looks through what a tool was called with.
func (u use) call(value any, key, tool string, depth int) bool {
	if depth == 0 {
		return false
	}
	switch value := value.(type) {
	case string:
		if u.skillPath().MatchString(value) {
			return true
		}
		if strings.Contains(strings.ToLower(tool), "skill") &&
			strings.TrimPrefix(strings.TrimSpace(value), "/") == u.skill {
			return slices.Contains([]string{"skill", "name", "command", "skill_name"}, key)
		}
		var encoded any
		if strings.HasPrefix(value, "{") && json.Unmarshal([]byte(value), &encoded) == nil {
			return u.call(encoded, key, tool, depth-1)
		}
	case []any:
		return slices.ContainsFunc(value, func(v any) bool { return u.call(v, key, tool, depth-1) })
	case map[string]any:
		for name, inner := range value {
			if u.call(inner, name, tool, depth-1) {
				return true
			}
		}
	}
	return false
}
