package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

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

func renderOpenAI(c *call) any {
	out, limit := map[string]any{"model": c.Model, "messages": c.Messages}, "max_tokens"
	if c.completionTokens {
		limit = "max_completion_tokens"
	}
	if c.MaxTokens != 0 {
		out[limit] = c.MaxTokens
	}
	if c.JSON && !c.noJSON {
		out["response_format"] = map[string]string{"type": "json_object"}
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

// anthropicTokens bounds an answer when nobody does: the API requires it.
const anthropicTokens = 4096

// anthropic is the protocol of Anthropic's messages.
var anthropic = protocol{
	path: "v1/messages", render: renderAnthropic, read: readAnthropic,
	login: func(header http.Header, key string) {
		header.Set("Anthropic-Version", "2023-06-01") // that this client speaks
		if key != "" {
			header.Set("X-Api-Key", key)
		}
	},
}

type anthropicRequest struct {
	Model     string             `json:"model"`
	MaxTokens int                `json:"max_tokens"`
	System    []anthropicBlock   `json:"system,omitempty"`
	Messages  []anthropicMessage `json:"messages"`
}

type anthropicMessage struct {
	Role    models.Role      `json:"role"`
	Content []anthropicBlock `json:"content"`
}

type anthropicBlock struct {
	Type  string            `json:"type"`
	Text  string            `json:"text"`
	Cache map[string]string `json:"cache_control,omitempty"`
}

// renderAnthropic puts consecutive words of one role into one message, as the API wants.
func renderAnthropic(c *call) any {
	out := anthropicRequest{Model: c.Model, MaxTokens: cmp.Or(c.MaxTokens, anthropicTokens)}
	for _, message := range c.Messages {
		block := anthropicBlock{Type: "text", Text: message.Text}
		if message.Repeats {
			block.Cache = map[string]string{"type": "ephemeral"}
		}
		last := len(out.Messages) - 1
		switch {
		case message.Text == "": // the API refuses empty blocks
		case message.Role == models.System:
			out.System = append(out.System, block)
		case last >= 0 && out.Messages[last].Role == message.Role:
			out.Messages[last].Content = append(out.Messages[last].Content, block)
		default:
			out.Messages = append(out.Messages, anthropicMessage{message.Role, []anthropicBlock{block}})
		}
	}
	return out
}

func readAnthropic(body []byte) (models.Response, error) {
	var in struct {
		Type    string           `json:"type"`
		Model   string           `json:"model"`
		Stop    string           `json:"stop_reason"`
		Content []anthropicBlock `json:"content"`
		Usage   struct {
			Input   *int64 `json:"input_tokens"`
			Output  *int64 `json:"output_tokens"`
			Read    *int64 `json:"cache_read_input_tokens"`
			Written *int64 `json:"cache_creation_input_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return models.Response{}, err
	}
	if in.Type != "message" {
		return models.Response{}, errors.New("it is no message")
	}
	out := models.Response{Model: in.Model, Usage: metric.Usage{
		InputTokens: whole(in.Usage.Input, in.Usage.Read, in.Usage.Written), OutputTokens: in.Usage.Output,
		CachedTokens: in.Usage.Read,
	}}
	var text strings.Builder
	for _, block := range in.Content {
		if block.Type == "text" {
			text.WriteString(block.Text)
		}
	}
	out.Text = text.String()
	out.Stop = cmp.Or(anthropicStops[in.Stop], models.Stop(in.Stop))
	return out, nil
}

var anthropicStops = map[string]models.Stop{
	"": models.Ended, "end_turn": models.Ended, "stop_sequence": models.Ended, "max_tokens": models.Length,
	"refusal": models.Refused,
}

// whole adds to the input tokens those that came from the cache or went into
// it, which the API counts apart.
func whole(input, read, written *int64) *int64 {
	if input == nil {
		return nil
	}
	return metric.Known(metric.Known(input, read), written)
}
