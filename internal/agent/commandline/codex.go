package commandline

import (
	"cmp"
	"encoding/json"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/lazyregexp"
)

// Codex is OpenAI's Codex.
func Codex() Descriptor {
	return Descriptor{
		Name: "codex", Program: "codex", Install: "npm install -g @openai/codex@0.169.0", Oldest: "0.160.0",
		Keys:   []string{"OPENAI_API_KEY", "CODEX_API_KEY"},
		Passed: []string{"OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_PROJECT"},
		Logins: []Login{{Path: ".codex/auth.json"}}, Sandboxed: true,
		Aliases: []string{"codex-cli", "openai-codex"},
		Private: []string{".codex"}, Skills: ".agents/skills", Streams: true,
		Config: []string{"AGENTS.md", ".agents/**", ".codex/**"},
		Line:   codexLine, Read: func() Reader { return &codexReader{} },
	}
}

// codexLine asks for changes in the working directory alone, without a person's
// configuration, plugins or sessions. The commands that the model runs see no
// key. Where its sandbox does not work every command would fail, so that there
// it does without. OPENAI_BASE_URL, which Codex itself ignores, names another endpoint.
func codexLine(t Task) Invocation {
	sandbox := "workspace-write"
	if t.Bare {
		sandbox = "danger-full-access"
	}
	args := t.modelled("-m",
		"codex", "exec", "--json", "--ephemeral", "--skip-git-repo-check", "--ignore-user-config", "--disable",
		"plugins", "-s", sandbox,
		"-c", "shell_environment_policy.ignore_default_excludes=false", "-c", "check_for_update_on_startup=false")
	key := cmp.Or(t.Getenv("CODEX_API_KEY"), t.Getenv("OPENAI_API_KEY"))
	env := []string{"CODEX_HOME=" + path.Join(t.Home, ".codex"), "RUST_LOG=error,codex_core::responses_retry=warn"}
	if key != "" {
		env = append(env, "CODEX_API_KEY="+key)
	}
	if url := t.Getenv("OPENAI_BASE_URL"); url != "" {
		const provider = "model_providers.endpoint."
		args = append(args, "-c", `model_provider="endpoint"`, "-c", provider+`name="endpoint"`, "-c",
			provider+"base_url="+strconv.Quote(url),
			"-c", provider+`wire_api="responses"`, "-c", provider+`env_key="CODEX_API_KEY"`, "-c",
			provider+"request_max_retries=2", "-c", provider+"stream_max_retries=2")
	}
	return Invocation{Args: append(args, "-"), Env: env, Stdin: t.Prompt, Files: map[string]string{".codex/.keep": ""}}
}

// codexReader reads `codex exec --json`. Tokens come once, at the end.
type codexReader struct{ Report }

type codexEvent struct {
	Type    string
	Message string
	Error   struct {
		Message string
	}
	Item struct {
		Type   string
		Text   string
		Status string
	}
	Usage *struct {
		Input  int64 `json:"input_tokens"`
		Cached int64 `json:"cached_input_tokens"`
		Output int64 `json:"output_tokens"`
	}
}

func (r *codexReader) Out(text []byte) {
	var e codexEvent
	_ = json.Unmarshal(text, &e) // what is no event has no type
	switch e.Type {
	case "item.completed":
		r.item(&e)
	case "error":
		again := codexReconnect().FindStringSubmatch(e.Message)
		if again == nil {
			r.fail(0, e.Message, true)
			return
		}
		attempt, _ := strconv.Atoi(again[1])
		r.fail(0, again[2], false)
		r.Problem.Final = r.Problem.Kind == Authentication && attempt >= hopelessAttempt
	case "turn.failed":
		r.fail(0, e.Error.Message, true)
	case "turn.completed":
		r.Done, r.Problem = true, nil
		if e.Usage != nil {
			r.tokens(e.Usage.Input, e.Usage.Cached, e.Usage.Output)
		}
	}
}

// item counts a model's turn for every message and every tool call; several
// calls of one answer are several turns, since Codex does not say.
func (r *codexReader) item(e *codexEvent) {
	switch e.Item.Type {
	case "agent_message":
		r.Words = e.Item.Text
		count(&r.Usage.Turns, 1)
	case "command_execution", "file_change", "mcp_tool_call", "web_search":
		r.Problem = nil
		count(&r.Usage.ToolCalls, 1)
		count(&r.Usage.Turns, 1)
		if e.Item.Status == "declined" {
			r.Denied = e.Item.Type
		}
	}
}

// codexReconnect is an error that Codex itself tries to overcome.
var codexReconnect = lazyregexp.New(`^Reconnecting\.\.\. (\d+)/\d+ \((.*)\)$`)

var codexRetry = lazyregexp.New(`retrying sampling request \(\d+/\d+ in ([0-9.]+)(ms|s)\)`)

// errs hears from the log how long the server asked to wait.
func (r *codexReader) Err(text []byte) {
	found := codexRetry().FindSubmatch(text)
	if found == nil {
		return
	}
	wait := waitOf(string(found[1]) + string(found[2])).Round(time.Second)
	_, cause, _ := strings.Cut(string(text), "sampling_error=")
	p := NewProblem(0, cause)
	if p.Kind != RateLimit {
		return
	}
	p.After, p.Final = wait, wait > patience
	r.Problem = p
}
