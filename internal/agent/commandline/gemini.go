package commandline

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// Gemini is Google's Gemini CLI.
func Gemini() Descriptor {
	return Descriptor{
		Name: "gemini", Program: "gemini", Install: "npm install -g @google/gemini-cli@0.61", Oldest: "0.50.0",
		Keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
		Passed: []string{
			"GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT",
			"GOOGLE_CLOUD_LOCATION",
		},
		Logins:  []Login{{Path: ".gemini/oauth_creds.json"}, {Path: ".gemini/google_accounts.json"}},
		Aliases: []string{"gemini-cli", "google-gemini"},
		Private: []string{".gemini"}, Skills: ".gemini/skills", Streams: true,
		Config: []string{"GEMINI.md", ".gemini/**"},
		Line:   geminiLine, Read: func() Reader { return &geminiReader{} },
	}
}

func geminiLine(t Task) Invocation {
	args := t.modelled("-m", "gemini", "-o", "stream-json", "--approval-mode", "yolo", "--skip-trust")
	login := "oauth-personal"
	switch {
	case t.Getenv("GOOGLE_GENAI_USE_VERTEXAI") == "true":
		login = "vertex-ai"
	case t.Getenv("GEMINI_API_KEY") != "":
		login = "gemini-api-key"
	}
	settings := `{"security":{"auth":{"selectedType":"` + login +
		`"}},"general":{"enableAutoUpdate":false},"privacy":{"usageStatisticsEnabled":false}}` + "\n"
	return Invocation{Args: args, Stdin: t.Prompt, Files: map[string]string{".gemini/settings.json": settings}}
}

// geminiReader reads `-o stream-json`. Tokens come once, at the end.
type geminiReader struct {
	Report
	open bool // the last words may go on
}

type geminiEvent struct {
	Type    string
	Role    string
	Content string
	Delta   bool
	Status  string
	Error   struct {
		Type    string
		Message string
	}
	Stats struct {
		ToolCalls *int64 `json:"tool_calls"`
		Models    map[string]struct {
			Input  int64 `json:"input_tokens"`
			Output int64 `json:"output_tokens"`
			Cached int64
		}
	}
	Model string
}

func (r *geminiReader) Out(text []byte) {
	var e geminiEvent
	_ = json.Unmarshal(text, &e) // what is no event has no type
	switch e.Type {
	case "init":
		r.Model = e.Model
	case "message":
		if e.Role != "assistant" {
			return
		}
		if !r.open || !e.Delta {
			r.Words = ""
		}
		r.Words += e.Content
		r.open, r.Problem = e.Delta, nil
	case "tool_use":
		r.open, r.Problem = false, nil
		count(&r.Usage.ToolCalls, 1)
	case "tool_result":
		if e.Status == "error" && refusedTool().MatchString(e.Error.Message+e.Error.Type) {
			r.Denied = e.Error.Type
		}
	case "result":
		r.result(&e)
	}
}

func (r *geminiReader) result(e *geminiEvent) {
	r.Done = true
	for _, m := range e.Stats.Models {
		if m.Input+m.Output == 0 {
			continue // No answer came: that is not known to be free.
		}
		r.tokens(m.Input, m.Cached, m.Output)
	}
	if e.Stats.ToolCalls != nil && r.Usage.InputTokens != nil {
		r.Usage.ToolCalls = e.Stats.ToolCalls
	}
	if e.Status == "success" {
		r.Problem = nil
		return
	}
	status := 0
	if code := geminiCode().FindStringSubmatch(e.Error.Message); code != nil {
		status, _ = strconv.Atoi(code[1])
	}
	r.fail(status, geminiWords(e.Error.Message), true)
}

var geminiCode = lazyregexp.New(`"code": ?(\d{3})\b`)

var geminiMessage = lazyregexp.New(`"message": ?"([^"]+)"`)

// geminiWords are those of an error that may be a JSON text.
func geminiWords(text string) string {
	if said := geminiMessage().FindStringSubmatch(text); said != nil {
		return said[1]
	}
	return text
}

var geminiAttempt = lazyregexp.New(`^Attempt (\d+) failed with status (\d+)\. Retrying`)

// maxAttempts is how often it may try again before it is ended.
const maxAttempts = 4

// errs hears what it tries again, which it does for minutes, and the messages
// with which it refuses to begin.
func (r *geminiReader) Err(text []byte) {
	words := string(text)
	if found := geminiAttempt().FindStringSubmatch(words); found != nil {
		attempt, _ := strconv.Atoi(found[1])
		status, _ := strconv.Atoi(found[2])
		r.Problem = NewProblem(status, geminiWords(words))
		r.Problem.Final = attempt >= maxAttempts || r.Problem.After > patience
		return
	}
	if strings.Contains(words, "set an Auth method") || strings.Contains(words, "Please set an auth") {
		r.Problem = &Problem{Kind: Authentication, Message: "it has no login: set GEMINI_API_KEY", Final: true}
	}
}
