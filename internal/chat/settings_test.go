package chat_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/chat"
)

func TestEndpointFrom(t *testing.T) {
	t.Parallel()
	gitHub := chat.Endpoint{
		API: chat.OpenAI, URL: "https://models.github.ai/inference", Key: "t1", Model: "openai/gpt-4.1", InputTokens: 8000, OutputTokens: 4000,
	}
	cases := []struct {
		name string
		env  map[string]string
		want chat.Endpoint
	}{
		{"the workflow's token", map[string]string{"GITHUB_TOKEN": "t1", "GH_TOKEN": "t2"}, gitHub},
		{"the token of gh", map[string]string{"GH_TOKEN": "t1"}, gitHub},
		{
			"a token never goes to another host",
			map[string]string{"GITHUB_TOKEN": "t1", chat.URLSetting: "https://models.example/v1"},
			chat.Endpoint{API: chat.OpenAI, URL: "https://models.example/v1"},
		},
		{
			"a key of its own",
			map[string]string{chat.URLSetting: "https://models.example/v1", chat.KeySetting: "k"},
			chat.Endpoint{API: chat.OpenAI, URL: "https://models.example/v1", Key: "k"},
		},
		{
			"seen from the address",
			map[string]string{chat.URLSetting: "https://api.anthropic.com", chat.KeySetting: "k"},
			chat.Endpoint{API: chat.Anthropic, URL: "https://api.anthropic.com", Key: "k", OutputTokens: 16_000},
		},
		{
			"said",
			map[string]string{chat.URLSetting: "http://127.0.0.1:1", chat.APISetting: "Anthropic"},
			chat.Endpoint{API: chat.Anthropic, URL: "http://127.0.0.1:1", OutputTokens: 16_000},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, lacks := chat.EndpointFrom(func(name string) string { return c.env[name] })
			assert.Empty(t, lacks)
			assert.Equal(t, c.want, got)
		})
	}
	_, lacks := chat.EndpointFrom(func(string) string { return "" })
	assert.Contains(t, lacks, "models: read")
}
