package agent

import (
	"encoding/json"
	"path"
	"strings"
)

// copilot is GitHub's Copilot CLI. The token of a workflow or of gh is never
// given to it: it gets a token of its own, or another provider's key.
func copilot() tool {
	return tool{
		name: "copilot", program: "copilot", install: "npm install -g @github/copilot@1.0.102", oldest: "1.0.0",
		keys: []string{"COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN"},
		passed: []string{
			"COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_TYPE", "COPILOT_PROVIDER_WIRE_API", "COPILOT_PROVIDER_AZURE_API_VERSION", "COPILOT_MODEL", "COPILOT_OFFLINE",
		},
		logins: []login{{path: ".copilot/config.json", members: []string{
			"copilot_tokens", "copilotTokens", "logged_in_users", "loggedInUsers", "last_logged_in_user", "lastLoggedInUser",
		}}},
		line: copilotLine, read: func() reader { return &copilotReader{} }, telemetry: copilotTelemetry,
	}
}

// copilotTelemetry is the only place where it tells what it consumed.
const copilotTelemetry = "telemetry.jsonl"

func copilotLine(a ask) line {
	args := []string{
		"copilot", "--allow-all-tools", "--no-ask-user", "--output-format", "json", "-s", "--disable-builtin-mcps", "--deny-tool", "shell(git push)",
		"--no-auto-update",
	}
	if a.model != "" {
		args = append(args, "--model", a.model)
	}
	return line{args: args, stdin: a.prompt, env: []string{"COPILOT_OTEL_FILE_EXPORTER_PATH=" + path.Join(a.home, copilotTelemetry)}}
}

// copilotReader reads `--output-format json`.
type copilotReader struct{ report }

type copilotEvent struct {
	Type string `json:"type"`
	Data struct {
		Content   string `json:"content"`
		Model     string `json:"model"`
		ErrorType string `json:"errorType"`
		Message   string `json:"message"`
		Status    int    `json:"statusCode"`
		ToolName  string `json:"toolName"`
		Error     struct {
			Message string `json:"message"`
			Code    string `json:"code"`
		} `json:"error"`
	} `json:"data"`
}

func (r *copilotReader) out(text []byte) {
	var e copilotEvent
	if json.Unmarshal(text, &e) != nil {
		return
	}
	switch e.Type {
	case "assistant.turn_start":
		count(&r.usage.Turns, 1)
	case "assistant.message":
		r.model, r.problem = e.Data.Model, nil
		if e.Data.Content != "" {
			r.words = e.Data.Content
		}
	case "tool.execution_start":
		count(&r.usage.ToolCalls, 1)
	case "tool.execution_complete":
		if e.Data.Error.Code == "denied" || strings.HasPrefix(e.Data.Error.Code, "permission") {
			r.denied = "a tool: " + e.Data.Error.Message
		}
	case "session.error":
		// It ends by itself, and writes its telemetry then.
		r.problem = newProblem(e.Data.Status, e.Data.ErrorType+": "+e.Data.Message)
	case "result":
		r.done = true
	}
}

// copilotSpan is a span of its OpenTelemetry file; one named chat is one answer
// of a model.
type copilotSpan struct {
	Attributes struct {
		Operation string `json:"gen_ai.operation.name"`
		Input     *int64 `json:"gen_ai.usage.input_tokens"`
		Output    *int64 `json:"gen_ai.usage.output_tokens"`
		Cached    *int64 `json:"gen_ai.usage.cache_read.input_tokens"`
	} `json:"attributes"`
}

func (r *copilotReader) told(text []byte) {
	var span copilotSpan
	if json.Unmarshal(text, &span) != nil || span.Attributes.Operation != "chat" {
		return
	}
	for _, part := range []struct {
		total **int64
		n     *int64
	}{
		{&r.usage.InputTokens, span.Attributes.Input},
		{&r.usage.OutputTokens, span.Attributes.Output},
		{&r.usage.CachedTokens, span.Attributes.Cached},
	} {
		if part.n != nil {
			count(part.total, *part.n)
		}
	}
}
