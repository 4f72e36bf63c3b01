package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/metric"
)

// openAI is the protocol of chat completions.
var openAI = protocol{
	path: "chat/completions", render: renderOpenAI, read: readOpenAI,
	login: func(header http.Header, key string) {
		if key != "" {
			header.Set("Authorization", "Bearer "+key)
		}
	},
}

type openAIRequest struct {
	Model               string            `json:"model"`
	Messages            []openAIMessage   `json:"messages"`
	MaxTokens           int               `json:"max_tokens,omitempty"`
	MaxCompletionTokens int               `json:"max_completion_tokens,omitempty"`
	ResponseFormat      map[string]string `json:"response_format,omitempty"`
}

type openAIMessage struct {
	Role    models.Role `json:"role"`
	Content string      `json:"content"`
}

func renderOpenAI(c *call) any {
	out := openAIRequest{Model: c.Model}
	for _, message := range c.Messages {
		out.Messages = append(out.Messages, openAIMessage{message.Role, message.Text})
	}
	if c.completionTokens {
		out.MaxCompletionTokens = c.MaxTokens
	} else {
		out.MaxTokens = c.MaxTokens
	}
	if c.JSON && !c.noJSON {
		out.ResponseFormat = map[string]string{"type": "json_object"}
	}
	return out
}

func readOpenAI(body []byte) (models.Response, error) {
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
	out.Stop = cmp.Or(openAIStops[choice.FinishReason], models.Stop(choice.FinishReason))
	if choice.Message.Refusal != "" && out.Text == "" {
		out.Stop = models.Refused
	}
	return out, nil
}

var openAIStops = map[string]models.Stop{
	"": models.Ended, "stop": models.Ended, "length": models.Length, "content_filter": models.Refused,
}
