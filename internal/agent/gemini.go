package agent

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// gemini is Google's Gemini CLI.
func gemini() tool {
	return tool{
		name: "gemini", program: "gemini", install: "npm install -g @google/gemini-cli@0.61", oldest: "0.50.0",
		keys:   []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
		passed: []string{"GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"},
		logins: []login{{path: ".gemini/oauth_creds.json"}, {path: ".gemini/google_accounts.json"}},
		line:   geminiLine, read: func() reader { return &geminiReader{} },
	}
}

func geminiLine(a ask) line {
	args := []string{"gemini", "-o", "stream-json", "--approval-mode", "yolo", "--skip-trust"}
	if a.model != "" {
		args = append(args, "-m", a.model)
	}
	login := "oauth-personal"
	switch {
	case a.get("GOOGLE_GENAI_USE_VERTEXAI") == "true":
		login = "vertex-ai"
	case a.get("GEMINI_API_KEY") != "":
		login = "gemini-api-key"
	}
	settings := `{"security":{"auth":{"selectedType":"` + login + `"}},"general":{"enableAutoUpdate":false},"privacy":{"usageStatisticsEnabled":false}}` + "\n"
	return line{args: args, stdin: a.prompt, files: map[string]string{".gemini/settings.json": settings}}
}

// geminiReader reads `-o stream-json`. Tokens come once, at the end.
type geminiReader struct {
	report
	open bool // the last words may go on
}

type geminiEvent struct {
	Type    string `json:"type"`
	Role    string `json:"role"`
	Content string `json:"content"`
	Delta   bool   `json:"delta"`
	Tool    string `json:"tool_name"`
	Status  string `json:"status"`
	Error   struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	Stats struct {
		ToolCalls *int `json:"tool_calls"`
		Models    map[string]struct {
			Input  int64 `json:"input_tokens"`
			Output int64 `json:"output_tokens"`
			Cached int64 `json:"cached"`
		} `json:"models"`
	} `json:"stats"`
	Model string `json:"model"`
}

func (r *geminiReader) out(text []byte) {
	var e geminiEvent
	if json.Unmarshal(text, &e) != nil {
		return
	}
	switch e.Type {
	case "init":
		r.model = e.Model
	case "message":
		r.message(&e)
	case "tool_use":
		r.open, r.problem = false, nil
		count(&r.usage.ToolCalls, 1)
	case "tool_result":
		if e.Status == "error" && refusedTool.MatchString(e.Error.Message+e.Error.Type) {
			r.denied = e.Error.Type
		}
	case "result":
		r.result(&e)
	}
}

func (r *geminiReader) message(e *geminiEvent) {
	if e.Role != "assistant" {
		return
	}
	if r.open && e.Delta {
		r.words += e.Content
	} else {
		r.words = e.Content
	}
	r.open, r.problem = e.Delta, nil
}

func (r *geminiReader) result(e *geminiEvent) {
	r.done = true
	for _, m := range e.Stats.Models {
		if m.Input+m.Output == 0 {
			continue // No answer came: that is not known to be free.
		}
		count(&r.usage.InputTokens, m.Input)
		count(&r.usage.CachedTokens, m.Cached)
		count(&r.usage.OutputTokens, m.Output)
	}
	if e.Stats.ToolCalls != nil && r.usage.InputTokens != nil {
		r.usage.ToolCalls = e.Stats.ToolCalls
	}
	if e.Status == "success" {
		r.problem = nil
		return
	}
	before, words := r.problem, e.Error.Message
	if said := geminiMessage.FindStringSubmatch(words); said != nil {
		words = said[1]
	}
	r.problem = newProblem(geminiStatus(e.Error.Message), words)
	r.problem.final = true
	if before != nil && before.kind == r.problem.kind && r.problem.after == 0 {
		r.problem.after = before.after
	}
}

var geminiCode = regexp.MustCompile(`"code": ?(\d{3})\b`)

func geminiStatus(words string) int {
	found := geminiCode.FindStringSubmatch(words)
	if found == nil {
		return 0
	}
	status, _ := strconv.Atoi(found[1])
	return status
}

var geminiMessage = regexp.MustCompile(`"message": ?"([^"]+)"`)

var geminiAttempt = regexp.MustCompile(`^Attempt (\d+) failed with status (\d+)\. Retrying`)

// maxAttempts is how often it may try again before it is ended.
const maxAttempts = 4

// errs hears what it tries again, which it does for minutes, and the messages
// with which it refuses to begin.
func (r *geminiReader) errs(text []byte) {
	words := string(text)
	if found := geminiAttempt.FindStringSubmatch(words); found != nil {
		attempt, _ := strconv.Atoi(found[1])
		status, _ := strconv.Atoi(found[2])
		if said := geminiMessage.FindStringSubmatch(words); said != nil {
			words = said[1]
		}
		r.problem = newProblem(status, words)
		r.problem.final = attempt >= maxAttempts || r.problem.after > patience
		return
	}
	if strings.Contains(words, "set an Auth method") || strings.Contains(words, "Please set an auth") {
		r.problem = &problem{kind: Authentication, message: "it has no login: set GEMINI_API_KEY", final: true}
	}
}
