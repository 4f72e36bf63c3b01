package agent

import (
	"encoding/json"
	"fmt"
	"path"
)

// cursor is Cursor's agent.
func cursor() tool {
	return tool{
		name: "cursor", program: "cursor-agent", install: "curl https://cursor.com/install -fsS | bash", oldest: "2025.9",
		keys: []string{"CURSOR_API_KEY"}, logins: []login{{path: ".config/cursor/auth.json"}},
		line: cursorLine, read: func() reader { return &cursorReader{} },
	}
}

// maxArgument is how many bytes of a prompt go into an argument: Linux takes no
// more than 128 KiB in one.
const maxArgument = 96 << 10

// cursorPrompt is the file below the home that holds a longer prompt.
const cursorPrompt = "prompt.md"

func cursorLine(a ask) line {
	args := []string{"cursor-agent", "-p", "--trust", "--force", "--output-format", "json"}
	if a.model != "" {
		args = append(args, "--model", a.model)
	}
	if len(a.prompt) <= maxArgument {
		return line{args: append(args, a.prompt)}
	}
	words := fmt.Sprintf("Read the file %s and do the task that it describes.", path.Join(a.home, cursorPrompt))
	return line{args: append(args, words), files: map[string]string{cursorPrompt: a.prompt}}
}

// cursorReader reads `--output-format json`: one result, after which the process
// may stay.
type cursorReader struct{ report }

func (r *cursorReader) out(text []byte) {
	var e struct {
		Type    string `json:"type"`
		Subtype string `json:"subtype"`
		IsError bool   `json:"is_error"`
		Result  string `json:"result"`
		Usage   *struct {
			Input  *int64 `json:"inputTokens"`
			Output *int64 `json:"outputTokens"`
			Read   *int64 `json:"cacheReadTokens"`
		} `json:"usage"`
	}
	if json.Unmarshal(text, &e) != nil || e.Type != "result" {
		return
	}
	r.done = true
	if e.Usage != nil {
		r.usage.InputTokens, r.usage.OutputTokens, r.usage.CachedTokens = e.Usage.Input, e.Usage.Output, e.Usage.Read
	}
	if e.IsError || e.Subtype != "success" {
		r.problem = newProblem(0, e.Result)
		r.problem.final = true
		return
	}
	r.words = e.Result
}
