package models_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/agent/models"
)

func TestEndpointFrom(t *testing.T) {
	t.Parallel()
	gitHub := models.Endpoint{
		API: models.OpenAI, URL: "https://models.github.ai/inference", Key: "t1", Model: "openai/gpt-4.1",
		InputTokens: 8000, OutputTokens: 4000,
	}
	const url = "https://models.example/v1"
	type vars = map[string]string
	for name, c := range map[string]struct {
		env  vars
		want models.Endpoint
	}{
		"the workflow's token": {vars{"GITHUB_TOKEN": "t1", "GH_TOKEN": "t2"}, gitHub},
		"the token of gh":      {vars{"GH_TOKEN": "t1"}, gitHub},
		"a token never goes to another host": {
			vars{"GITHUB_TOKEN": "t1", models.URLSetting: url}, models.Endpoint{API: models.OpenAI, URL: url},
		},
		"a key of its own": {
			vars{models.URLSetting: url, models.KeySetting: "k"},
			models.Endpoint{API: models.OpenAI, URL: url, Key: "k"},
		},
		"seen from the address": {
			vars{models.URLSetting: "https://api.anthropic.com"},
			models.Endpoint{API: models.Anthropic, URL: "https://api.anthropic.com", OutputTokens: 16_000},
		},
		"said": {
			vars{models.URLSetting: url, models.APISetting: "Anthropic"},
			models.Endpoint{API: models.Anthropic, URL: url, OutputTokens: 16_000},
		},
	} {
		got, lacks := models.EndpointFrom(func(name string) string { return c.env[name] })
		assert.Empty(t, lacks, name)
		assert.Equal(t, c.want, got, name)
	}
	_, lacks := models.EndpointFrom(func(string) string { return "" })
	assert.Contains(t, lacks, "models: read")
	assert.Equal(t, models.Endpoint{API: models.Anthropic, URL: "u", Key: "k", Model: "claude-sonnet-4-5"},
		models.AnthropicFrom(func(name string) string {
			return vars{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "u"}[name]
		}))
}
