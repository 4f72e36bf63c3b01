package judge

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/metric"
)

// api asks an endpoint over HTTP.
type api struct {
	complete Complete
	endpoint models.Endpoint
	price    Price
}

// answerTokens bounds an answer; reasoning counts too where a model reasons.
const answerTokens = 4000

// room leaves some of the model's bound for the system prompt and for answers,
// and takes three bytes for a token, which is on the safe side.
func (a *api) room() int {
	const rest, bytesPerToken = 1500, 3
	if a.endpoint.InputTokens == 0 {
		return 0
	}
	return max(a.endpoint.InputTokens-rest, rest) * bytesPerToken
}

func (a *api) ask(ctx context.Context, system, question string) (answer, error) {
	response, err := a.complete(ctx, a.endpoint, models.Request{
		Messages: []models.Message{
			{Role: models.System, Text: system, Repeats: true},
			{Role: models.User, Text: question},
		},
		MaxTokens: answerTokens, JSON: true,
	})
	said := answer{Text: response.Text, Model: response.Model}
	said.Model = cmp.Or(said.Model, a.endpoint.Model)
	if in, out := response.Usage.InputTokens, response.Usage.OutputTokens; in != nil && out != nil {
		said.Tokens = new(*in + *out)
	}
	if a.price != nil && err == nil {
		said.USD = a.price(said.Model, response.Usage)
	}
	if failed, is := errors.AsType[*models.Error](err); is && failed.Status >= http.StatusBadRequest {
		said.Tokens, said.USD = new(int64), &metric.Value{} // a refusal costs nothing
	}
	return said, err
}
