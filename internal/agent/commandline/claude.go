package commandline

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/metric"
)

// Claude is Claude Code.
func Claude() Descriptor {
	return Descriptor{
		Name: "claude", Program: "claude", Install: "npm install -g @anthropic-ai/claude-code@2.1.197", Oldest: "2.1.0",
		Keys: []string{
			"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN",
			"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX",
		},
		Passed: []string{
			"ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_MODEL",
			"ANTHROPIC_SMALL_FAST_MODEL",
		},
		Logins:  []Login{{Path: ".claude/.credentials.json"}},
		Aliases: []string{"claude-code", "anthropic-claude-code", "claude-cli"},
		Private: []string{".claude", ".claude.json"}, Skills: ".claude/skills", Streams: true,
		Config: []string{"CLAUDE.md", ".mcp.json", ".claude/**"}, Personal: []string{".claude/worktrees/**"},
		Question: claudeQuestion(), Line: claudeLine,
		Read: func() Reader { return &claudeReader{seen: map[string]bool{}} },
	}
}

// claudeTools are the tools that it may use without asking.
const claudeTools = "Bash,Edit,Glob,Grep,NotebookEdit,Read,TodoWrite,Write"

func claudeLine(t Task) Invocation {
	args := t.modelled("--model",
		"claude", "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits",
		"--allowedTools", claudeTools,
		"--strict-mcp-config", "--no-session-persistence")
	if t.MaxCostUSD != nil {
		args = append(args, "--max-budget-usd", t.MaxCostUSD.String())
	}
	return Invocation{
		Args: args, Stdin: t.Prompt,
		Env: []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"},
	}
}

// claudeReader reads `--output-format stream-json`. Usage is counted as the
// messages come; the result that ends them replaces it.
type claudeReader struct {
	Report
	seen map[string]bool // the messages whose usage is counted: one may come in parts
}

type claudeTokens struct {
	Input   int64 `json:"input_tokens"`
	Output  int64 `json:"output_tokens"`
	Written int64 `json:"cache_creation_input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
}

// claudeEvent holds the members of all events that matter here.
type claudeEvent struct {
	Type    string
	Subtype string
	Message struct {
		ID      string
		Model   string
		Usage   claudeTokens
		Content []struct {
			Type string
			Text string
		}
	}

	// system, subtype api_retry
	Attempt    int
	RetryDelay float64 `json:"retry_delay_ms"`
	Status     int     `json:"error_status"`
	Error      string
	// rate_limit_event
	Limit struct {
		Status   string
		ResetsAt int64
	} `json:"rate_limit_info"`
	// result
	IsError   bool `json:"is_error"`
	APIStatus int  `json:"api_error_status"`
	Result    string
	Errors    []string
	Turns     int64         `json:"num_turns"`
	Cost      *metric.Value `json:"total_cost_usd"`
	Models    map[string]struct {
		InputTokens              int64
		OutputTokens             int64
		CacheReadInputTokens     int64
		CacheCreationInputTokens int64
	} `json:"modelUsage"`
	Denials []struct {
		Tool string `json:"tool_name"`
	} `json:"permission_denials"`
}

// hopelessAttempt is the attempt at which a refused login is believed.
const hopelessAttempt = 2

// patience is the longest wait for a rate limit that an agent is left to.
const patience = 2 * time.Minute

func (r *claudeReader) Out(text []byte) {
	var e claudeEvent
	_ = json.Unmarshal(text, &e) // what is no event has no type
	switch {
	case e.Type == "system" && e.Subtype == "api_retry":
		p := NewProblem(e.Status, e.Error)
		p.After = bounded(time.Duration(e.RetryDelay * float64(time.Millisecond)))
		p.Final = p.Kind == Authentication && e.Attempt >= hopelessAttempt || p.Kind == RateLimit && p.After > patience
		r.Problem = p
	case e.Type == "rate_limit_event" && e.Limit.Status == "rejected":
		r.Problem = &Problem{
			Kind: RateLimit, Message: "the plan's usage limit is reached", Final: true, At: time.Unix(e.Limit.ResetsAt, 0),
		}
	case e.Type == "assistant":
		r.message(&e)
	case e.Type == "result":
		r.result(&e)
	}
}

func (r *claudeReader) message(e *claudeEvent) {
	m := &e.Message
	for _, part := range m.Content {
		switch part.Type {
		case "tool_use":
			count(&r.Usage.ToolCalls, 1)
		case "text":
			r.Words = part.Text
		}
	}
	if e.Error != "" || r.seen[m.ID] {
		return
	}
	r.seen[m.ID] = true
	r.Problem, r.Model = nil, m.Model
	count(&r.Usage.Turns, 1)
	r.tokens(m.Usage.Input+m.Usage.Written+m.Usage.Read, m.Usage.Read, m.Usage.Output)
}

// result takes the last event: its totals stand for all that were counted.
func (r *claudeReader) result(e *claudeEvent) {
	r.Done = true
	if len(e.Models) > 0 {
		r.Usage.InputTokens, r.Usage.CachedTokens, r.Usage.OutputTokens = nil, nil, nil
		for _, m := range e.Models {
			r.tokens(m.InputTokens+m.CacheCreationInputTokens+m.CacheReadInputTokens, m.CacheReadInputTokens,
				m.OutputTokens)
		}
		r.Usage.CostUSD = e.Cost
		if e.Turns > 0 {
			r.Usage.Turns = &e.Turns
		}
	}
	if len(e.Denials) > 0 {
		r.Denied = e.Denials[0].Tool
	}
	words := e.Result
	if words == "" && len(e.Errors) > 0 {
		words = e.Errors[0]
	}
	switch {
	case e.Subtype == "error_max_budget_usd", e.Subtype == "error_max_turns":
		r.Problem = &Problem{Kind: Budget, Message: words, Final: true}
	case e.IsError || e.Subtype != "success":
		if r.Problem == nil || r.Problem.Kind != RateLimit {
			r.Problem = NewProblem(e.APIStatus, words)
		}
		r.Problem.Final, r.Words = true, ""
	default:
		r.Problem, r.Words = nil, words
	}
}

// Question is how an agent is asked one question, as a judge asks it: without any
// tool and without leave to do anything. The question is on standard input.
type Question struct {
	// Variables are those of the caller's environment that it gets.
	Variables []string
	// Env is what it gets besides; getenv reads the caller's environment.
	Env func(getenv func(string) string) []string
	// Args is the command line; model is "" for the agent's own choice.
	Args func(system, model string) []string
	// Read takes the answer out of what it printed.
	Read func(stdout []byte, exitCode int) (Answer, error)
}

// Answer is the answer to a Question. What is not known is nil or "".
type Answer struct {
	Text, Model string
	Tokens      *int64
	USD         *metric.Value
}

// Asked is the first agent that can be asked a question, nil when no agent can.
func (t Table) Asked() *Descriptor {
	if i := slices.IndexFunc(t, func(d Descriptor) bool { return d.Question != nil }); i >= 0 {
		return &t[i]
	}
	return nil
}

// claudeQuestion asks `claude -p`. It writes to the directory of its login.
func claudeQuestion() *Question {
	return &Question{
		Variables: []string{
			"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL",
			"CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR",
		},
		Env: func(getenv func(string) string) []string {
			env := []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
			if home := getenv("HOME"); home != "" && getenv("CLAUDE_CONFIG_DIR") == "" {
				env = append(env, "CLAUDE_CONFIG_DIR="+home+"/.claude")
			}
			return env
		},
		Args: func(system, model string) []string {
			return Task{Model: model}.modelled("--model",
				"claude", "-p", "--output-format", "json", "--system-prompt", system,
				"--tools", "", "--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands",
				"--no-session-persistence")
		},
		Read: readClaudeAnswer,
	}
}

// readClaudeAnswer takes the answer out of what claude printed. An error may come
// with exit code 0, and then is_error says so.
func readClaudeAnswer(stdout []byte, exitCode int) (Answer, error) {
	var said struct {
		IsError bool `json:"is_error"`
		Result  *string
		Cost    *metric.Value `json:"total_cost_usd"`
		Usage   *claudeTokens
		Models  map[string]json.RawMessage `json:"modelUsage"`
	}
	if err := json.Unmarshal(stdout, &said); err != nil {
		return Answer{}, errors.New("what claude printed is not its JSON")
	}
	a := Answer{USD: said.Cost, Model: strings.Join(slices.Sorted(maps.Keys(said.Models)), "+")}
	if u := said.Usage; u != nil {
		a.Tokens = new(u.Input + u.Output + u.Written + u.Read)
	}
	if said.Result != nil {
		a.Text = *said.Result
	}
	switch {
	case said.IsError || exitCode != 0:
		return a, fmt.Errorf("claude failed with exit code %d: %s", exitCode, a.Text)
	case said.Result == nil:
		return a, errors.New("what claude printed has no `result`")
	}
	return a, nil
}
