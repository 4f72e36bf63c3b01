package agent

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/agent/models/client/modeltest"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/tests/golden"
)

var record = flag.String("record", "",
	"directory of installed agents: run them against a scripted model server and record what they print")

// recordedKey is the key of every recording; no recording may hold it.
const recordedKey = "sk-recorded-key-0123456789"

// recorded is one thing that happens to an agent.
type recorded struct {
	name    string
	answers []modeltest.Answer
	limit   metric.Limit
	// only names the agents to which it happens; none is all of them.
	only []string
}

func (c recorded) happensTo(agent string) bool {
	if agent == "cursor" { // Written by hand after its documentation.
		return slices.Contains([]string{"edit", "idle", "unauthorized", "ratelimit"}, c.name)
	}
	return len(c.only) == 0 || slices.Contains(c.only, agent)
}

// recordings are what happens to an agent whose model runs commands by a tool.
func recordings(tool, member string) []recorded {
	use := func(command string) modeltest.Answer {
		return modeltest.Use(tool, map[string]string{member: command, "description": "do it"})
	}
	shell, broken, refused := use("echo 'value = 2' > value.txt"), use(""), use("git push origin main")
	broken.Calls[0].Arguments = `{"command": nope`
	if tool == "Bash" {
		refused = modeltest.Use("WebFetch", map[string]string{"url": "http://127.0.0.1:9/", "prompt": "read"})
	}
	cent := metric.MustValue("0.001")
	type list = []modeltest.Answer
	return []recorded{
		{name: "edit", answers: list{shell, modeltest.Text("Raised the value to 2.\n\nIt was too low.")}},
		{name: "idle", answers: list{modeltest.Text("Nothing to do.")}},
		{name: "unauthorized", answers: list{modeltest.Fail(http.StatusUnauthorized,
			"Incorrect API key provided: "+recordedKey)}},
		{name: "ratelimit", answers: list{modeltest.Wait(3600)}},
		{name: "quota", answers: list{{
			Status: http.StatusTooManyRequests, Code: "insufficient_quota",
			Message: "You exceeded your current quota, please check your plan and billing details.",
		}}},
		{name: "malformed", answers: list{broken, modeltest.Text("I could not do it.")}},
		{
			name: "budget", only: []string{"claude", "opencode"}, limit: metric.Limit{CostUSD: &cent},
			answers: list{shell, modeltest.Text("Done.")},
		},
		{
			name: "denied", only: []string{"claude", "copilot", "opencode"},
			answers: list{refused, modeltest.Text("I was not allowed to.")},
		},
	}
}

// recordedAgent is how one uses an agent with the scripted server.
type recordedAgent struct {
	tool, member, model string
	environ             []string // @url is the server's address, @key the key
}

var recordedAgents = map[string]recordedAgent{
	"claude": {"Bash", "command", "claude-sonnet-4-5", []string{"ANTHROPIC_API_KEY=@key", "ANTHROPIC_BASE_URL=@url"}},
	"codex":  {"exec_command", "cmd", "gpt-5-codex", []string{"OPENAI_API_KEY=@key", "OPENAI_BASE_URL=@url/v1"}},
	"gemini": {
		"run_shell_command", "command", "gemini-2.5-flash",
		[]string{"GEMINI_API_KEY=@key", "GOOGLE_GEMINI_BASE_URL=@url"},
	},
	"copilot": {"bash", "command", "test-model", []string{
		"COPILOT_PROVIDER_API_KEY=@key", "COPILOT_PROVIDER_BASE_URL=@url/v1", "COPILOT_PROVIDER_TYPE=openai",
		"COPILOT_OFFLINE=true", "COPILOT_MODEL=test-model",
	}},
	"opencode": {"bash", "command", "endpoint/test-model", []string{
		"OPENCODE_DISABLE_MODELS_FETCH=1", `OPENCODE_CONFIG_CONTENT={"permission":{"bash":{"git push*":"deny"}},` +
			`"provider":{"endpoint":{"npm":"@ai-sdk/openai-compatible",` +
			`"options":{"baseURL":"@url/v1","apiKey":"@key"},"models":{"test-model":{"cost":{"input":2,"output":8,"cache_read":0.5}}}}}}`,
	}},
	"cursor": {model: "test-model"},
	"parrot": {model: "test-model"},
}

// recorder runs an agent and keeps what it printed.
type recorder struct {
	Runner
	base string
	told string
}

func (r *recorder) Run(ctx context.Context, spec process.Spec) (process.Result, error) {
	result, err := r.Runner.Run(ctx, spec)
	if err != nil {
		return result, err
	}
	home := process.Getenv(spec.Env, "HOME")
	scrub := func(text []byte) []byte {
		for _, pair := range [][2]string{{spec.Dir, "/tree"}, {home, "/home/agent"}, {recordedKey, "***"}} {
			text = []byte(strings.ReplaceAll(string(text), pair[0], pair[1]))
		}
		return text
	}
	telemetry, _ := os.ReadFile(filepath.Join(home, r.told))
	return result, os.WriteFile(r.base+".json", marshal(recording{
		Out: textLines(scrub(result.Stdout)), Err: textLines(scrub(result.Stderr)), Told: textLines(scrub(telemetry)),
		Code: result.ExitCode, Signal: result.Signal,
	}), 0o600)
}

// recording is what an agent printed.
type recording struct {
	Out    []string `json:"out"`
	Err    []string `json:"err,omitempty"`
	Told   []string `json:"told,omitempty"`
	Code   int      `json:"code"`
	Signal string   `json:"signal,omitempty"`
}

func textLines(text []byte) []string {
	var list []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		noise := strings.Contains(line, `"ephemeral":true`) || strings.Contains(line, `"type":"metric"`) ||
			strings.HasPrefix(line, "    at ") || len(line) > 20_000
		if !noise {
			list = append(list, line)
		}
	}
	return list
}

func marshal(value any) []byte {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return []byte(text.String())
}

// replayer is a Runner that prints a recording.
type replayer struct {
	recording
	told string
}

func (r *replayer) Run(ctx context.Context, spec process.Spec) (process.Result, error) {
	result := process.Result{ExitCode: r.Code, Signal: r.Signal, Duration: time.Second}
	for _, line := range r.Out {
		_, _ = fmt.Fprintln(spec.Stdout, line)
		result.Stdout = append(result.Stdout, line+"\n"...)
	}
	for _, line := range r.Err {
		_, _ = fmt.Fprintln(spec.Stderr, line)
		result.Stderr = append(result.Stderr, line+"\n"...)
	}
	result.Cancelled = ctx.Err() != nil
	if r.told == "" {
		return result, nil
	}
	file := filepath.Join(process.Getenv(spec.Env, "HOME"), r.told)
	return result, os.WriteFile(file, []byte(strings.Join(r.Told, "\n")+"\n"), 0o600)
}

func recordedTime() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func recordedRequest(t *testing.T, agent string, limit metric.Limit) Request {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "value.txt"), []byte("value = 1\n"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(home, "tmp"), 0o700))
	return Request{
		Dir: dir, Home: home, Prompt: "Change value.txt.", Model: recordedAgents[agent].model, Limit: limit,
		Timeout: 2 * time.Minute,
		Env:     []string{"HOME=" + home, "TMPDIR=" + filepath.Join(home, "tmp"), "PATH=" + os.Getenv("PATH")},
	}
}

// TestRecordings holds what the readers make of recorded output against golden
// replies. With -record the agents run again, and the replies are written with
// -update.
func TestRecordings(t *testing.T) {
	for _, tool := range commandline.All() {
		how := recordedAgents[tool.Name]
		for _, c := range recordings(how.tool, how.member) {
			if !c.happensTo(tool.Name) {
				continue
			}
			t.Run(tool.Name+"/"+c.name, func(t *testing.T) {
				base := filepath.Join("testdata", tool.Name, c.name)
				if *record != "" {
					recordAgent(t, tool, c, base)
				}
				replayAgent(t, tool, c, base)
			})
		}
	}
}

func recordAgent(t *testing.T, tool commandline.Descriptor, c recorded, base string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(*record, tool.Program)); err != nil {
		return
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(base), 0o755))
	server := modeltest.NewForAgents(t, c.answers...)
	request := recordedRequest(t, tool.Name, c.limit)
	environ := []string{"PATH=" + *record + string(filepath.ListSeparator) + os.Getenv("PATH")}
	for _, variable := range recordedAgents[tool.Name].environ {
		environ = append(environ, strings.NewReplacer("@url", server.URL, "@key", recordedKey).Replace(variable))
	}
	request.Env = append(request.Env, environ[0])
	agent := &Headless{
		agent: tool, runner: &recorder{process.NewRunner(), base, tool.Telemetry}, caller: environ,
		now: time.Now, linger: linger,
	}
	reply := must(agent.Propose(t.Context(), request))
	t.Logf("took %s", reply.Duration.Round(time.Second))
	if c.name == "edit" {
		text := must(os.ReadFile(filepath.Join(request.Dir, "value.txt")))
		require.Equal(t, "value = 2\n", string(text))
	}
}

func replayAgent(t *testing.T, tool commandline.Descriptor, c recorded, base string) {
	t.Helper()
	text := must(os.ReadFile(base + ".json"))
	require.NotContains(t, string(text), recordedKey)
	var made recording
	require.NoError(t, json.Unmarshal(text, &made))
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, tool.Program), nil, 0o700))
	environ := []string{"PATH=" + bin, tool.Keys[0] + "=" + recordedKey}
	agent := &Headless{
		agent: tool, runner: &replayer{made, tool.Telemetry}, caller: environ, now: recordedTime,
		linger: linger,
	}
	reply := must(agent.Propose(t.Context(), recordedRequest(t, tool.Name, c.limit)))
	got := marshal(asRecorded(reply))
	if golden.Updating() {
		require.NoError(t, os.WriteFile(base+".reply.json", got, 0o600))
	}
	want := must(os.ReadFile(base + ".reply.json"))
	assert.Equal(t, string(want), string(got))
}

// asRecorded is a reply as it is written down.
func asRecorded(reply Reply) map[string]any {
	said := func(f *Failure) any {
		if f == nil {
			return nil
		}
		at := "unknown"
		if f.RetryAt != nil {
			at = f.RetryAt.Format(time.RFC3339)
		}
		return map[string]string{"kind": string(f.Kind), "message": f.Message, "retry_at": at}
	}
	u := reply.Usage
	return map[string]any{
		"summary": reply.Summary, "model": reply.Model, "failure": said(reply.Failure), "idle": said(reply.Idle),
		"usage": map[string]any{
			"input": number(u.InputTokens), "cached": number(u.CachedTokens), "output": number(u.OutputTokens),
			"cost": number(u.CostUSD), "turns": number(u.Turns), "tool_calls": number(u.ToolCalls),
		},
	}
}

func number[T any](n *T) any {
	if n == nil {
		return nil
	}
	return fmt.Sprint(*n)
}
