package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/metric"
)

// TestInstalledVersionsAreTheTestedOnes: the lines that install agents pin the
// versions that the tests run or that were recorded, and none is refused.
func TestInstalledVersionsAreTheTestedOnes(t *testing.T) {
	t.Parallel()
	var locked struct{ Dependencies map[string]string }
	text, err := os.ReadFile(filepath.Join("..", "..", "tests", "npm", "package.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &locked))
	documented, err := os.ReadFile(filepath.Join("..", "..", "docs", "howto", "agents.md"))
	require.NoError(t, err)
	run := 0
	for _, tool := range commandline.All() {
		if tool.Name == "cursor" {
			continue // Its installer has one version.
		}
		at := strings.LastIndexByte(tool.Install, '@')
		version := tool.Install[at+1:]
		assert.Empty(t, outdated(&tool, version), tool.Name)
		assert.Contains(t, string(documented), "`"+tool.Install+"`")
		for name, pinned := range locked.Dependencies {
			if strings.HasSuffix(tool.Install[:at], " "+name) {
				assert.Equal(t, pinned, version, tool.Name)
				run++
			}
		}
	}
	assert.Len(t, locked.Dependencies, run)
	recorded, err := os.ReadFile(filepath.Join("testdata", "claude", "edit.json"))
	require.NoError(t, err)
	claude := commandline.Claude()
	assert.Contains(t, string(recorded),
		`claude_code_version\":\"`+claude.Install[strings.LastIndexByte(claude.Install, '@')+1:])
}

func TestOneAgentsKeysAreNoOthers(t *testing.T) {
	t.Parallel()
	caller := []string{
		"ANTHROPIC_API_KEY=a", "OPENAI_API_KEY=o", "GEMINI_API_KEY=g", "COPILOT_GITHUB_TOKEN=c",
		"CURSOR_API_KEY=u", "GITHUB_TOKEN=t", "GH_TOKEN=t",
	}
	want := map[string]string{
		"claude": "ANTHROPIC_API_KEY=a", "codex": "OPENAI_API_KEY=o", "gemini": "GEMINI_API_KEY=g",
		"copilot": "COPILOT_GITHUB_TOKEN=c", "cursor": "CURSOR_API_KEY=u",
		"opencode": "ANTHROPIC_API_KEY=a OPENAI_API_KEY=o GEMINI_API_KEY=g", // It speaks to all of them.
	}
	for _, tool := range commandline.All() {
		require.NotEmpty(t, want[tool.Name], "say which key is that of %s", tool.Name)
		assert.Equal(t, want[tool.Name], strings.Join(ownVariables(&tool, caller), " "), tool.Name)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2.1.197 (Claude Code)": "2.1.197", "codex-cli 0.169.0\n": "0.169.0",
		"GitHub Copilot CLI 1.0.102.\nRun": "1.0.102",
		"2025.11.25-d5b3271":               "2025.11.25", "": "", "unknown option": "",
	} {
		assert.Equal(t, want, versionIn(text), text)
	}
	for _, pair := range [][2]string{{"1.9.9", "1.10.0"}, {"0.9", "1"}, {"1.0", "1.0.1"}, {"2025.8.31", "2025.9"}} {
		assert.True(t, older(pair[0], pair[1]), pair)
		assert.False(t, older(pair[1], pair[0]), pair)
	}
	assert.False(t, older("1.0", "1"))
	for _, tool := range commandline.All() {
		assert.Contains(t, outdated(&tool, "0.0.1"),
			"version 0.0.1 is too old (at least "+tool.Oldest+"): "+tool.Install)
		assert.Empty(t, outdated(&tool, "9999.0"))
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	table := prices()
	assert.Regexp(t, `^20\d\d-\d\d-\d\d$`, table.AsOf)
	assert.NotEmpty(t, table.Sources)
	for name, p := range table.Models {
		assert.Positive(t, p.Input.Sign(), name)
		assert.Positive(t, p.Output.Cmp(p.Input), name)
		assert.Negative(t, p.Cached.Cmp(p.Input), name)
	}
	million, half := int64(1_000_000), int64(500_000)
	usage := metric.Usage{InputTokens: &million, OutputTokens: &half, CachedTokens: &half}
	for model, want := range map[string]string{
		"claude-sonnet-4-5": "9.15", "anthropic/claude-sonnet-4-5-20250929": "9.15", "gpt-5-2025-08-07": "5.6875",
		"GPT-5": "5.6875",
	} {
		require.NotNil(t, Price(model, usage), model)
		assert.Equal(t, want, Price(model, usage).String(), model)
	}
	assert.Nil(t, Price("gpt-5-of-tomorrow", usage), "an unknown price is not the price of another")
	assert.Nil(t, Price("", usage))
	assert.Nil(t, Price("gpt-5", metric.Usage{InputTokens: &million}), "unknown tokens are not none")
	usage.CachedTokens = nil
	assert.Equal(t, "6.25", Price("gpt-5", usage).String(), "all at the full price")
}

func TestLoginsAreLent(t *testing.T) {
	t.Parallel()
	const old, fresh = `{"tokens":{"access_token":"old-access-token-0123"},"last":1}`,
		`{"tokens":{"access_token":"new-access-token-0123"},"last":2}`
	for name, c := range map[string]struct{ agent, elsewhere, want string }{
		"untouched":                 {old, "", old},
		"renewed":                   {fresh, "", fresh},
		"no login any more":         {`{"last":3}`, "", old},
		"no JSON":                   {"gone", "", old},
		"renewed elsewhere as well": {fresh, `{"tokens":{},"last":9}`, `{"tokens":{},"last":9}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := commandline.Codex()
			from, to := t.TempDir(), t.TempDir()
			mine, lent := filepath.Join(from, ".codex/auth.json"), filepath.Join(to, ".codex/auth.json")
			require.NoError(t, writePrivate(mine, []byte(old)))
			require.True(t, hasLogin(&tool, from))
			files, err := copyLogins(&tool, from, to)
			require.NoError(t, err)
			assert.Equal(t, []string{"old-access-token-0123"}, files.secrets())
			copied, err := os.ReadFile(lent)
			require.NoError(t, err)
			assert.JSONEq(t, old, string(copied))
			require.NoError(t, os.WriteFile(lent, []byte(c.agent), 0o600))
			if c.elsewhere != "" {
				require.NoError(t, os.WriteFile(mine, []byte(c.elsewhere), 0o600))
			}
			require.NoError(t, files.takeBack())
			assert.NoFileExists(t, lent)
			after, err := os.ReadFile(mine)
			require.NoError(t, err)
			assert.Equal(t, c.want, string(after))
		})
	}
}

func TestOnlyTheLoginOfAConfigurationIsLent(t *testing.T) {
	t.Parallel()
	tool := commandline.Copilot()
	from, to := t.TempDir(), t.TempDir()
	config := `{"copilot_tokens":{"https://github.com:me":"gho_0123456789abcdef"},"trusted_folders":["/"],` +
		`"mcp":{"evil":1}}`
	require.NoError(t, writePrivate(filepath.Join(from, ".copilot/config.json"), []byte(config)))
	files, err := copyLogins(&tool, from, to)
	require.NoError(t, err)
	copied, err := os.ReadFile(filepath.Join(to, ".copilot/config.json"))
	require.NoError(t, err)
	var lent map[string]any
	require.NoError(t, json.Unmarshal(copied, &lent))
	assert.Len(t, lent, 1)
	assert.Equal(t, []string{"gho_0123456789abcdef"}, files.secrets())
	more := `{"copilot_tokens":{},"trusted_folders":["/"],"mcp":{"evil":2},"hooks":"evil"}`
	require.NoError(t, os.WriteFile(filepath.Join(to, ".copilot/config.json"), []byte(more), 0o600),
		"the agent adds to it")
	require.NoError(t, files.takeBack())
	after, err := os.ReadFile(filepath.Join(from, ".copilot/config.json"))
	require.NoError(t, err)
	assert.Equal(t, config, string(after))
}
