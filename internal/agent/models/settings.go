package models

import (
	"cmp"
	"net/url"
	"strings"
)

// The settings that say where models are asked.
const (
	// URLSetting is an endpoint's address; the key in KeySetting goes there.
	URLSetting = "AUTOLOOP_MODELS_URL"
	KeySetting = "AUTOLOOP_MODELS_KEY"
	// APISetting is "openai" or "anthropic"; it is seen from the address when unset.
	APISetting = "AUTOLOOP_MODELS_API"
)

// What GitHub Models takes from a workflow's token. The bounds are those of the
// free tier for models of the "high" class.
const (
	gitHubURL    = "https://models.github.ai/inference"
	gitHubModel  = "openai/gpt-4.1"
	gitHubInput  = 8000
	gitHubOutput = 4000
)

// anthropicOutput bounds an answer of Anthropic's models, which have no bound
// of their own.
const anthropicOutput = 16_000

// EndpointFrom reads the settings: an address with its own key, else GitHub
// Models with GITHUB_TOKEN or GH_TOKEN, which are sent to no other host. Lacks
// says what to set when there is neither.
func EndpointFrom(getenv func(string) string) (endpoint Endpoint, lacks string) {
	if address := strings.TrimSpace(getenv(URLSetting)); address != "" {
		endpoint = Endpoint{API: apiOf(address, getenv(APISetting)), URL: address, Key: getenv(KeySetting)}
		if endpoint.API == Anthropic {
			endpoint.OutputTokens = anthropicOutput
		}
		return endpoint, ""
	}
	for _, name := range []string{"GITHUB_TOKEN", "GH_TOKEN"} {
		if token := getenv(name); token != "" {
			return Endpoint{
				API: OpenAI, URL: gitHubURL, Key: token, Model: gitHubModel, InputTokens: gitHubInput,
				OutputTokens: gitHubOutput,
			}, ""
		}
	}
	return Endpoint{}, "set GITHUB_TOKEN for GitHub Models (in a workflow with `permissions: models: read`), or " +
		URLSetting + " and " + KeySetting + " for another endpoint"
}

// AnthropicFrom is Anthropic's own endpoint, for whom ANTHROPIC_API_KEY is set;
// without it the endpoint has no Key.
func AnthropicFrom(getenv func(string) string) Endpoint {
	return Endpoint{
		API: Anthropic, URL: cmp.Or(getenv("ANTHROPIC_BASE_URL"), "https://api.anthropic.com"),
		Key: getenv("ANTHROPIC_API_KEY"), Model: "claude-sonnet-4-5",
	}
}

func apiOf(address, said string) API {
	if said != "" {
		return API(strings.ToLower(strings.TrimSpace(said)))
	}
	if at, err := url.Parse(address); err == nil && at.Hostname() == "api.anthropic.com" {
		return Anthropic
	}
	return OpenAI
}
