package commandline

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/org/autoloop/internal/metric"
)

// Copilot is GitHub's Copilot CLI. The token of a workflow or of gh is never
// given to it: it gets a token of its own, or another provider's key.
func Copilot() Descriptor {
	return Descriptor{
		Name: "copilot", Program: "copilot", Install: "npm install -g @github/copilot@1.0.102", Oldest: "1.0.0",
		Keys: []string{"COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN"},
		Passed: []string{
			"COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_TYPE", "COPILOT_PROVIDER_WIRE_API",
			"COPILOT_PROVIDER_AZURE_API_VERSION", "COPILOT_MODEL", "COPILOT_OFFLINE",
		},
		Logins: []Login{{Path: ".copilot/config.json", Members: []string{
			"copilot_tokens", "copilotTokens", "logged_in_users", "loggedInUsers", "last_logged_in_user",
			"lastLoggedInUser",
		}}},
		Aliases: []string{"copilot-cli", "github-copilot", "github-copilot-cli"},
		Private: []string{".copilot", ".config/github-copilot"}, Skills: ".github/skills", Streams: true,
		Config: []string{
			"AGENTS.md", ".github/copilot-instructions.md", ".github/instructions/**", ".github/agents/**",
			".github/prompts/**", ".github/skills/**",
		},
		Line: copilotLine, Read: func() Reader { return &copilotReader{} }, Telemetry: copilotTelemetry,
	}
}

// copilotTelemetry is the only place where it tells what it consumed.
const copilotTelemetry = "telemetry.jsonl"

func copilotLine(t Task) Invocation {
	return Invocation{
		Args: t.modelled("--model",
			"copilot", "--allow-all-tools", "--no-ask-user", "--output-format", "json", "-s", "--disable-builtin-mcps",
			"--deny-tool", "shell(git push)",
			"--no-auto-update"),
		Stdin: t.Prompt,
		Env:   []string{"COPILOT_OTEL_FILE_EXPORTER_PATH=" + path.Join(t.Home, copilotTelemetry)},
	}
}

// copilotReader reads `--output-format json`.
type copilotReader struct{ Report }

type copilotEvent struct {
	Type string
	Data struct {
		Content    string
		Model      string
		ErrorType  string
		Message    string
		StatusCode int
		Error      struct {
			Message string
			Code    string
		}
	}
}

func (r *copilotReader) Out(text []byte) {
	var e copilotEvent
	_ = json.Unmarshal(text, &e) // what is no event has no type
	switch e.Type {
	case "assistant.turn_start":
		count(&r.Usage.Turns, 1)
	case "assistant.message":
		r.Model, r.Problem = e.Data.Model, nil
		if e.Data.Content != "" {
			r.Words = e.Data.Content
		}
	case "tool.execution_start":
		count(&r.Usage.ToolCalls, 1)
	case "tool.execution_complete":
		if e.Data.Error.Code == "denied" || strings.HasPrefix(e.Data.Error.Code, "permission") {
			r.Denied = "a tool: " + e.Data.Error.Message
		}
	case "session.error":
		// It ends by itself, and writes its telemetry then.
		r.fail(e.Data.StatusCode, e.Data.ErrorType+": "+e.Data.Message, false)
	case "result":
		r.Done = true
	}
}

// Telemetry reads a line of its OpenTelemetry file, where one span named chat is one answer of a
// model. Commands that it runs can write there, so that nothing else is believed.
func (r *copilotReader) Telemetry(text []byte) {
	var span struct {
		Attributes struct {
			Operation string `json:"gen_ai.operation.name"`
			Input     *int64 `json:"gen_ai.usage.input_tokens"`
			Output    *int64 `json:"gen_ai.usage.output_tokens"`
			Cached    *int64 `json:"gen_ai.usage.cache_read.input_tokens"`
		}
	}
	if json.Unmarshal(text, &span) != nil || span.Attributes.Operation != "chat" {
		return
	}
	for total, n := range map[**int64]*int64{
		&r.Usage.InputTokens:  span.Attributes.Input,
		&r.Usage.OutputTokens: span.Attributes.Output,
		&r.Usage.CachedTokens: span.Attributes.Cached,
	} {
		*total = metric.Known(*total, n)
	}
}
