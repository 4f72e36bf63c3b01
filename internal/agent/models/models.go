// Package models is the vocabulary for asking a language model: endpoints,
// requests, answers, usage and errors, as values. Package client sends them; who
// needs a model gets an agent.Complete, so that a binary which asks no model links no client.
package models

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/org/autoloop/internal/metric"
)

// API is the protocol that an endpoint speaks.
type API string

// The protocols.
const (
	// OpenAI is `POST {URL}/chat/completions`, as spoken by GitHub Models and by
	// most servers that run models.
	OpenAI API = "openai"
	// Anthropic is `POST {URL}/v1/messages`.
	Anthropic API = "anthropic"
)

// Endpoint is where a model is asked.
type Endpoint struct {
	API API
	// URL is the base address without the method's path. It is https, or http
	// on this machine alone.
	URL string
	// Key is sent to URL's host and to no other; "" sends none.
	Key string
	// Model is used when a request names none.
	Model string
	// InputTokens is how many tokens a request may have, OutputTokens how many
	// an answer may; 0 is unknown.
	InputTokens, OutputTokens int
}

// Role says whose words a message is.
type Role string

// The roles. System messages come before all others.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one turn, in JSON as OpenAI has it.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"content"`
	// Repeats says that later requests begin with the same words up to the end
	// of this message: a server that is told what to cache caches up to here.
	Repeats bool `json:"-"`
}

// Request is one question, with all that was said before it.
type Request struct {
	// Model is "" for the endpoint's.
	Model    string
	Messages []Message
	// MaxTokens bounds the answer; 0 is the endpoint's OutputTokens, and when
	// that is 0 too the server's own limit.
	MaxTokens int
	// JSON asks an OpenAI endpoint that supports it for an answer that is one
	// JSON object. Say so in words too: other endpoints ignore it.
	JSON bool
}

// Stop says why an answer ended.
type Stop string

// The reasons. Others are passed on as the server words them.
const (
	Ended   Stop = "end"     // the model was done
	Length  Stop = "length"  // MaxTokens cut it off
	Refused Stop = "refused" // the model or a filter declined
)

// Response is an answer.
type Response struct {
	// Text is what the model said; it may be empty.
	Text string
	// Model is as the server names it, "" when it does not.
	Model string
	Stop  Stop
	// Usage has the tokens that the server counted.
	Usage metric.Usage
}

// ErrorKind says why a request was not answered.
type ErrorKind string

// The kinds of error.
const (
	Authentication ErrorKind = "authentication" // no key, or one that is refused
	RateLimit      ErrorKind = "rate-limit"     // too many requests; see RetryAfter
	Budget         ErrorKind = "budget"         // the account's money or quota is used up
	Timeout        ErrorKind = "timeout"        // no answer within the time given
	Server         ErrorKind = "server"         // the server failed, or cannot be reached
	TooLarge       ErrorKind = "too-large"      // more tokens than the model takes
	Invalid        ErrorKind = "invalid"        // refused for another reason: a model that does not exist, …
	Malformed      ErrorKind = "malformed"      // an answer that cannot be read
)

// Error is why a request was not answered.
type Error struct {
	Kind ErrorKind
	// Status is the HTTP status, 0 without a response.
	Status int
	// Message is one bounded line without the key, with what to do next where
	// that is known.
	Message string
	// RetryAfter is how long to wait from the moment of the answer; 0 when the
	// server did not say.
	RetryAfter time.Duration
}

// Error gives kind, status and message.
func (e *Error) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("%s: %s", e.Kind, e.Message)
	}
	return fmt.Sprintf("%s (HTTP %d): %s", e.Kind, e.Status, e.Message)
}

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
