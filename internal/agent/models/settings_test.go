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
	cases := []struct {
		name string
		env  map[string]string
		want models.Endpoint
	}{
		{"the workflow's token", map[string]string{"GITHUB_TOKEN": "t1", "GH_TOKEN": "t2"}, gitHub},
		{"the token of gh", map[string]string{"GH_TOKEN": "t1"}, gitHub},
		{
			"a token never goes to another host",
			map[string]string{"GITHUB_TOKEN": "t1", models.URLSetting: "https://models.example/v1"},
			models.Endpoint{API: models.OpenAI, URL: "https://models.example/v1"},
		},
		{
			"a key of its own",
			map[string]string{models.URLSetting: "https://models.example/v1", models.KeySetting: "k"},
			models.Endpoint{API: models.OpenAI, URL: "https://models.example/v1", Key: "k"},
		},
		{
			"seen from the address",
			map[string]string{models.URLSetting: "https://api.anthropic.com", models.KeySetting: "k"},
			models.Endpoint{API: models.Anthropic, URL: "https://api.anthropic.com", Key: "k", OutputTokens: 16_000},
		},
		{
			"said",
			map[string]string{models.URLSetting: "http://127.0.0.1:1", models.APISetting: "Anthropic"},
			models.Endpoint{API: models.Anthropic, URL: "http://127.0.0.1:1", OutputTokens: 16_000},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, lacks := models.EndpointFrom(func(name string) string { return c.env[name] })
			assert.Empty(t, lacks)
			assert.Equal(t, c.want, got)
		})
	}
	_, lacks := models.EndpointFrom(func(string) string { return "" })
	assert.Contains(t, lacks, "models: read")
}
