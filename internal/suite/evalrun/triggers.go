package evalrun

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/suite"
)

// TriggerSuite is the skill with its trigger queries as cases, nil for one without.
func (s *Skill) TriggerSuite() *Skill { return s.with(s.Triggers) }

// AnswerSuite is the skill with its questions as cases. It is nil when the skill
// has none, and when they are its suite already.
func (s *Skill) AnswerSuite() *Skill {
	if s.asked {
		return nil
	}
	return s.with(s.Answers)
}

// with is the skill with other cases.
func (s *Skill) with(cases []suite.Case) *Skill {
	if len(cases) == 0 {
		return nil
	}
	with := *s
	with.Cases = cases
	return &with
}

// Chooses reports whether an agent decides by itself which skills it takes up.
// One that is shown every file of its directory does not, so that trigger
// queries say nothing of it.
func Chooses(agentName string) bool { return agentName != "models" }

// skillUsed reports whether what an agent printed shows that it used a skill: a
// tool call that names the skill's SKILL.md, or names the skill to a tool that
// loads skills. Words of the model and what tools answered are no use of it: a
// listing of files has the same path. Of an agent that prints no events the
// path anywhere in what it printed counts.
func skillUsed(printed []byte, form agent.Printed, skill string) bool {
	if form != agent.Events {
		return bytes.Contains(printed, []byte("skills/"+skill+"/"+SkillFile))
	}
	// It is followed by nothing that belongs to a name.
	u := use{skill: skill, path: regexp.MustCompile(`(^|[^A-Za-z0-9_.-])skills[/\\]+` + regexp.QuoteMeta(skill) +
		`[/\\]+` + regexp.QuoteMeta(SkillFile) + `\b`)}
	for line := range bytes.Lines(printed) {
		var event any
		if json.Unmarshal(line, &event) == nil && u.in(event, "") {
			return true
		}
	}
	return false
}

// use looks for the use of a skill in events.
type use struct {
	skill string
	path  *regexp.Regexp // of its SKILL.md
	// tool is the name of the tool around, "" outside of one; called says that this is
	// what it was called with.
	tool   string
	called bool
}

// in looks through a value for tool calls that use the skill. key is the one that it
// stands under.
func (u use) in(value any, key string) bool {
	switch value := value.(type) {
	case string:
		return u.called && u.by(value, key)
	case []any:
		return slices.ContainsFunc(value, func(v any) bool { return u.in(v, key) })
	case map[string]any:
		for _, key := range []string{"name", "toolName", "tool_name", "tool"} { // the last one counts
			if name, is := value[key].(string); is && !u.called {
				u.tool = name
			}
		}
		for name, inner := range value {
			below := u
			below.called = u.called ||
				slices.Contains([]string{"input", "arguments", "args", "parameters", "command"}, name)
			if below.in(inner, name) {
				return true
			}
		}
	}
	return false
}

// by reports whether a tool that was called with a text used the skill.
func (u use) by(text, key string) bool {
	if u.path.MatchString(text) {
		return true
	}
	if strings.Contains(strings.ToLower(u.tool), "skill") &&
		strings.TrimPrefix(strings.TrimSpace(text), "/") == u.skill {
		return slices.Contains([]string{"skill", "name", "command", "skill_name"}, key)
	}
	var encoded any
	return strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &encoded) == nil && u.in(encoded, key)
}
