package taskrun

import "strings"

// AgentOf is the name here of an agent that a task file calls by one of its other
// names.
func AgentOf(name string) string {
	switch strings.ReplaceAll(strings.ToLower(name), "_", "-") {
	case "claude-code", "anthropic-claude-code", "claude-cli":
		return "claude"
	case "codex-cli", "openai-codex":
		return "codex"
	case "copilot-cli", "github-copilot", "github-copilot-cli":
		return "copilot"
	case "gemini-cli", "google-gemini":
		return "gemini"
	case "open-code":
		return "opencode"
	case "cursor-agent", "cursor-cli":
		return "cursor"
	default:
		return name
	}
}
