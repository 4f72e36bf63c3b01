package commandline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
)

// Opencode is OpenCode, which speaks to many providers.
func Opencode() Descriptor {
	return Descriptor{
		Name: "opencode", Program: "opencode", Install: "npm install -g opencode-ai@1.18.33", Oldest: "1.18.0",
		Keys: []string{
			"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY",
			"GOOGLE_GENERATIVE_AI_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY",
			"DEEPSEEK_API_KEY", "XAI_API_KEY", "OPENCODE_API_KEY", "OPENCODE_CONFIG_CONTENT",
		},
		Passed:  []string{"OPENCODE_DISABLE_MODELS_FETCH"},
		Logins:  []Login{{Path: ".local/share/opencode/auth.json"}},
		Aliases: []string{"open-code"},
		Private: []string{".config/opencode", ".local/share/opencode"}, Skills: ".opencode/skills", Streams: true,
		Config: []string{"AGENTS.md", "opencode.json", ".opencode/**"},
		Line:   opencodeLine, Read: func() Reader { return &opencodeReader{} },
	}
}

// opencodeLine lets everything through that the configuration does not deny.
// Errors are logged, because it retries without a word otherwise. The npm
// configuration keeps it from fetching packages for plugins, which it runs
// without.
func opencodeLine(t Task) Invocation {
	return Invocation{
		Args: t.modelled("-m",
			"opencode", "run", "--format", "json", "--auto", "--pure", "--title", "autoloop", "--print-logs",
			"--log-level", "ERROR"),
		Stdin: t.Prompt,
		Env:   []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_SHARE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"},
		Files: map[string]string{
			".config/opencode/package.json": "{}\n", ".config/opencode/.npmrc": "offline=true\n",
		},
	}
}

// opencodeReader reads `opencode run --format json`.
type opencodeReader struct {
	Report
	retries int
}

type opencodeEvent struct {
	Type string
	Part struct {
		Text   string
		Tool   string
		Reason string
		State  struct {
			Status string
			Error  string
		}
		Tokens *struct {
			Input     int64
			Output    int64
			Reasoning int64
			Cache     struct {
				Read  int64
				Write int64
			}
		}
		Cost *metric.Value
	}
	Error struct {
		Name string
		Data struct {
			Message         string
			StatusCode      int
			ResponseHeaders map[string]string
		}
	}
}

func (r *opencodeReader) Out(text []byte) {
	var e opencodeEvent
	_ = json.Unmarshal(text, &e) // what is no event has no type
	switch e.Type {
	case "text":
		r.Words, r.Problem = e.Part.Text, nil
	case "tool_use":
		r.Problem = nil
		count(&r.Usage.ToolCalls, 1)
		if state := e.Part.State; state.Status == "error" && refusedTool().MatchString(state.Error) {
			r.Denied = e.Part.Tool
		}
	case "step_finish":
		r.step(&e)
	case "error":
		words := cmp.Or(e.Error.Data.Message, e.Error.Name)
		r.fail(e.Error.Data.StatusCode, words, true)
		if after := waitOf(e.Error.Data.ResponseHeaders["retry-after"] + "s"); waitIn(words) == 0 {
			r.Problem.After = cmp.Or(after, r.Problem.After)
		}
	}
}

var refusedTool = lazyregexp.New(`(?i)\b(rejected permission|prevents you from using|permission|denied)\b`)

// step counts one answer of the model. A cost of 0 for tokens that cost
// something means that it knows no price.
func (r *opencodeReader) step(e *opencodeEvent) {
	r.Problem, r.retries = nil, 0
	count(&r.Usage.Turns, 1)
	if t := e.Part.Tokens; t != nil {
		r.tokens(t.Input+t.Cache.Read+t.Cache.Write, t.Cache.Read, t.Output+t.Reasoning)
	}
	if cost := e.Part.Cost; cost != nil && cost.Sign() > 0 {
		if r.Usage.CostUSD != nil {
			cost = new(cost.Add(*r.Usage.CostUSD))
		}
		r.Usage.CostUSD = cost
	}
	r.Done = e.Part.Reason != "" && e.Part.Reason != "tool-calls"
}

var opencodeLogged = lazyregexp.New(`message="stream error".* error\.error=("(?:[^"\\]|\\.)*")`)

// maxQuiet is how many errors of the server in a row it may retry.
const maxQuiet = 3

// errs hears what it retries in silence. How long the server asked to wait is
// not in the log unless the message says so, and the wait may be long: a rate
// limit ends it.
func (r *opencodeReader) Err(text []byte) {
	found := opencodeLogged().FindSubmatch(text)
	if found == nil || r.Done || bytes.Contains(text, []byte(" small=true ")) {
		return // Titles and the like are asked of a small model, and not needed.
	}
	words, err := strconv.Unquote(string(found[1]))
	if err != nil {
		words = string(bytes.Trim(found[1], `"`))
	}
	r.retries++
	r.Problem = NewProblem(0, words)
	r.Problem.Final = r.Problem.Kind != Crashed || r.retries >= maxQuiet
}
