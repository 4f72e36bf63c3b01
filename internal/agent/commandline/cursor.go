package commandline

import (
	"encoding/json"
	"fmt"
	"path"
)

// Cursor is Cursor's agent.
func Cursor() Descriptor {
	return Descriptor{
		Name: "cursor", Program: "cursor-agent", Install: "curl https://cursor.com/install -fsS | bash",
		Oldest: "2025.9",
		Keys:   []string{"CURSOR_API_KEY"}, Logins: []Login{{Path: ".config/cursor/auth.json"}},
		Aliases: []string{"cursor-agent", "cursor-cli"},
		Private: []string{".cursor", ".config/cursor", ".local/share/cursor-agent/auth.json"}, Skills: ".cursor/skills",
		Config: []string{".cursorrules", ".cursor/**"},
		Line:   cursorLine, Read: func() Reader { return &cursorReader{} },
	}
}

// maxArgument is how many bytes of a prompt go into an argument: Linux takes no
// more than 128 KiB in one.
const maxArgument = 96 << 10

// cursorPrompt is the file below the home that holds a longer prompt.
const cursorPrompt = "prompt.md"

func cursorLine(t Task) Invocation {
	args := t.modelled("--model", "cursor-agent", "-p", "--trust", "--force", "--output-format", "json")
	if len(t.Prompt) <= maxArgument {
		return Invocation{Args: append(args, t.Prompt)}
	}
	words := fmt.Sprintf("Read the file %s and do the task that it describes.", path.Join(t.Home, cursorPrompt))
	return Invocation{Args: append(args, words), Files: map[string]string{cursorPrompt: t.Prompt}}
}

// cursorReader reads `--output-format json`: one result, after which the process
// may stay.
type cursorReader struct{ Report }

func (r *cursorReader) Out(text []byte) {
	var e struct {
		Type    string
		Subtype string
		IsError bool `json:"is_error"`
		Result  string
		Usage   *struct {
			InputTokens     *int64
			OutputTokens    *int64
			CacheReadTokens *int64
		}
	}
	if _ = json.Unmarshal(text, &e); e.Type != "result" {
		return
	}
	r.Done = true
	if e.Usage != nil {
		u := &r.Usage
		u.InputTokens, u.OutputTokens, u.CachedTokens = e.Usage.InputTokens, e.Usage.OutputTokens, e.Usage.CacheReadTokens
	}
	if e.IsError || e.Subtype != "success" {
		r.fail(0, e.Result, true)
		return
	}
	r.Words = e.Result
}
