package agent

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/metric"
)

// TestInstalledVersionsAreTheTestedOnes: the lines that install agents pin the
// versions that the tests run or that were recorded, and none is refused.
func TestInstalledVersionsAreTheTestedOnes(t *testing.T) {
	t.Parallel()
	var locked struct{ Dependencies map[string]string }
	text := must(os.ReadFile(filepath.Join("..", "..", "tests", "npm", "package.json")))
	require.NoError(t, json.Unmarshal(text, &locked))
	documented := must(os.ReadFile(filepath.Join("..", "..", "docs", "howto", "agents.md")))
	run := 0
	for _, tool := range commandline.All() {
		if tool.Name == "cursor" {
			continue // Its installer has one version.
		}
		at := strings.LastIndexByte(tool.Install, '@')
		version := tool.Install[at+1:]
		require.NoError(t, outdated(tool, version), tool.Name)
		assert.Contains(t, string(documented), "`"+tool.Install+"`")
		for name, pinned := range locked.Dependencies {
			if strings.HasSuffix(tool.Install[:at], " "+name) {
				assert.Equal(t, pinned, version, tool.Name)
				run++
			}
		}
	}
	assert.Len(t, locked.Dependencies, run)
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
		assert.Equal(t, want, versionNumber().FindString(text), text)
	}
	for _, pair := range [][2]string{{"1.9.9", "1.10.0"}, {"0.9", "1"}, {"1.0", "1.0.1"}, {"2025.8.31", "2025.9"}} {
		require.Error(t, outdated(commandline.Descriptor{Oldest: pair[1]}, pair[0]), pair)
		require.NoError(t, outdated(commandline.Descriptor{Oldest: pair[0]}, pair[1]), pair)
	}
	require.NoError(t, outdated(commandline.Descriptor{Oldest: "1.0"}, "1"))
	for _, tool := range commandline.All() {
		require.ErrorContains(t, outdated(tool, "0.0.1"),
			"version 0.0.1 is too old (at least "+tool.Oldest+"): "+tool.Install)
		require.NoError(t, outdated(tool, "9999.0"))
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	for name, p := range prices().Models {
		assert.Positive(t, p.Input.Sign(), name)
		assert.Positive(t, p.Output.Cmp(p.Input), name)
		assert.Negative(t, p.Cached.Cmp(p.Input), name)
	}
	million, half := int64(1_000_000), int64(500_000)
	for model, want := range map[string][2]string{ // with half of it cached, and without word of that
		"claude-sonnet-4-5": {"9.15", "10.5"}, "anthropic/claude-sonnet-4-5-20250929": {"9.15", "10.5"},
		"gpt-5-2025-08-07": {"5.6875", "6.25"}, "GPT-5": {"5.6875", "6.25"},
		"gpt-5-of-tomorrow": {"<nil>", "<nil>"}, "": {"<nil>", "<nil>"}, // not the price of another
	} {
		usage := metric.Usage{InputTokens: &million, OutputTokens: &half}
		assert.Equal(t, want[1], fmt.Sprint(Price(model, usage)), model)
		usage.CachedTokens = &half
		assert.Equal(t, want[0], fmt.Sprint(Price(model, usage)), model)
	}
	assert.Nil(t, Price("gpt-5", metric.Usage{InputTokens: &million}), "unknown tokens are not none")
}

// TestLoginsAreLent: the agent has a copy, of a configuration the login alone. What it
// renewed is put back, what it makes of the rest is not.
func TestLoginsAreLent(t *testing.T) {
	t.Parallel()
	const old, fresh = `{"tokens":{"access_token":"old-access-token-0123"},"last":1}`,
		`{"tokens":{"access_token":"new-access-token-0123"},"last":2}`
	const config = `{"copilot_tokens":{"me":"old-access-token-0123"},"mcp":{"evil":1}}`
	for name, c := range map[string]struct{ mine, lent, agent, elsewhere, want string }{
		"untouched":                 {old, old, old, "", old},
		"renewed":                   {old, old, fresh, "", fresh},
		"no login any more":         {old, old, `{"last":3}`, "", old},
		"no JSON":                   {old, old, "gone", "", old},
		"renewed elsewhere as well": {old, old, fresh, `{"tokens":{},"last":9}`, `{"tokens":{},"last":9}`},
		"a configuration": {
			config, `{"copilot_tokens":{"me":"old-access-token-0123"}}`,
			`{"copilot_tokens":{},"mcp":{"evil":2},"hooks":"evil"}`, "", config,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool, path := commandline.Codex(), ".codex/auth.json"
			if c.mine == config {
				tool, path = commandline.Copilot(), ".copilot/config.json"
			}
			from, to := t.TempDir(), t.TempDir()
			mine, lent := filepath.Join(from, path), filepath.Join(to, path)
			require.NoError(t, files.WritePrivate(mine, []byte(c.mine)))
			require.True(t, hasLogin(&tool, from))
			copies, secrets, err := copyLogins(&tool, from, to)
			require.NoError(t, err)
			assert.Equal(t, []string{"old-access-token-0123"}, secrets)
			copied := must(os.ReadFile(lent))
			assert.JSONEq(t, c.lent, string(copied))
			require.NoError(t, os.WriteFile(lent, []byte(c.agent), 0o600))
			if c.elsewhere != "" {
				require.NoError(t, os.WriteFile(mine, []byte(c.elsewhere), 0o600))
			}
			require.NoError(t, takeBack(copies))
			assert.NoFileExists(t, lent)
			after := must(os.ReadFile(mine))
			assert.Equal(t, c.want, string(after))
		})
	}
}
