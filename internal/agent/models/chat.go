// Package models is the vocabulary for asking a language model: endpoints,
// requests, answers, usage and errors, as values. Package client sends them; who
// needs a model gets an agent.Complete, so that a binary which asks no model links no client.
package models

import "github.com/org/autoloop/internal/metric"

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

// Message is one turn.
type Message struct {
	Role Role
	Text string
	// Repeats says that later requests begin with the same words up to the end
	// of this message: a server that is told what to cache caches up to here.
	Repeats bool
}

// Request is one question, with all that was said before it.
type Request struct {
	// Model is "" for the endpoint's.
	Model    string
	Messages []Message
	// MaxTokens bounds the answer; 0 is the endpoint's OutputTokens, and when
	// that is 0 too the server's own limit.
	MaxTokens int
	// Temperature is nil for the server's default.
	Temperature *float64
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
