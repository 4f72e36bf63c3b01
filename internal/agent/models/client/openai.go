package client

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/metric"
)

// openAI is the protocol of chat completions.
type openAI struct{}

type openAIRequest struct {
	Model               string          `json:"model"`
	Messages            []openAIMessage `json:"messages"`
	MaxTokens           int             `json:"max_tokens,omitempty"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"`
	Temperature         *float64        `json:"temperature,omitempty"`
	ResponseFormat      *openAIFormat   `json:"response_format,omitempty"`
}

type openAIMessage struct {
	Role    models.Role `json:"role"`
	Content string      `json:"content"`
}

type openAIFormat struct {
	Type string `json:"type"`
}

func (openAI) path() string { return "chat/completions" }

func (openAI) headers(header http.Header, key string) {
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
}

func (openAI) render(c *call) any {
	out := openAIRequest{Model: c.model}
	for _, message := range c.request.Messages {
		out.Messages = append(out.Messages, openAIMessage{message.Role, message.Text})
	}
	if c.completionTokens {
		out.MaxCompletionTokens = c.maxTokens
	} else {
		out.MaxTokens = c.maxTokens
	}
	if !c.noTemperature {
		out.Temperature = c.request.Temperature
	}
	if c.request.JSON && !c.noJSON {
		out.ResponseFormat = &openAIFormat{"json_object"}
	}
	return out
}

func (openAI) read(body []byte) (models.Response, error) {
	var in struct {
		Model   string `json:"model"`
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct {
				Content *string `json:"content"`
				Refusal string  `json:"refusal"`
			} `json:"message"`
		} `json:"choices"`
		Usage struct {
			Prompt     *int64 `json:"prompt_tokens"`
			Completion *int64 `json:"completion_tokens"`
			Details    struct {
				Cached *int64 `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return models.Response{}, err
	}
	if len(in.Choices) == 0 {
		return models.Response{}, errors.New("it has no choices")
	}
	choice := in.Choices[0]
	out := models.Response{Model: in.Model, Usage: metric.Usage{
		InputTokens: in.Usage.Prompt, OutputTokens: in.Usage.Completion, CachedTokens: in.Usage.Details.Cached,
	}}
	if choice.Message.Content != nil {
		out.Text = *choice.Message.Content
	}
	switch {
	case choice.FinishReason == "content_filter", choice.Message.Refusal != "" && out.Text == "":
		out.Stop = models.Refused
	case choice.FinishReason == "length":
		out.Stop = models.Length
	case choice.FinishReason == "stop", choice.FinishReason == "":
		out.Stop = models.Ended
	default:
		out.Stop = models.Stop(choice.FinishReason)
	}
	return out, nil
}
