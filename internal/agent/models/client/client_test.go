package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/agent/models/client"
	"github.com/org/autoloop/internal/agent/models/client/modeltest"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
)

const key = "key-that-is-secret"

func count(n int64) *int64 { return &n }

func quick() *client.Client { return &client.Client{Pause: time.Millisecond} }

func endpoint(api models.API, url string) models.Endpoint {
	return models.Endpoint{API: api, URL: url, Key: key, Model: "m-1", OutputTokens: 77}
}

func ask(words string) models.Request {
	return models.Request{Messages: []models.Message{
		{Role: models.System, Text: "You judge.", Repeats: true},
		{Role: models.User, Text: "The rubric.", Repeats: true},
		{Role: models.User, Text: words},
	}}
}

// failure is why the client gives no answer from a server that gives these.
func failure(t *testing.T, api models.API, answers ...modeltest.Answer) (failed *models.Error, asked int) {
	t.Helper()
	server := modeltest.New(t, answers...)
	_, err := quick().Complete(t.Context(), endpoint(api, server.URL), ask("?"))
	require.ErrorAs(t, err, &failed)
	return failed, len(server.Requests())
}

func TestOpenAI(t *testing.T) {
	t.Parallel()
	server := modeltest.New(t, modeltest.Answer{
		Text:  "fine",
		Usage: modeltest.Tokens{Input: 30, Output: 4, Cached: 20},
	})
	request := ask("Is it good?")
	request.JSON = true
	response, err := quick().Complete(t.Context(), endpoint(models.OpenAI, server.URL+"/inference/"), request)
	require.NoError(t, err)
	assert.Equal(t, models.Response{Text: "fine", Model: "m-1", Stop: models.Ended, Usage: metric.Usage{
		InputTokens: count(30), OutputTokens: count(4), CachedTokens: count(20),
	}}, response)
	sent := server.Requests()[0]
	assert.Equal(t, "/inference/chat/completions", sent.Path)
	assert.Equal(t, "Bearer "+key, sent.Header.Get("Authorization"))
	assert.JSONEq(t, `{"model": "m-1", "max_tokens": 77, "response_format": {"type": "json_object"},
		"messages": [{"role": "system", "content": "You judge."}, {"role": "user", "content": "The rubric."},
		{"role": "user", "content": "Is it good?"}]}`, string(sent.Body))
}

func TestAnthropicCachesWhatRepeats(t *testing.T) {
	t.Parallel()
	server := modeltest.New(t, modeltest.Answer{Raw: `{"type": "message", "model": "m-1.5", "stop_reason": "end_turn",
		"content": [{"type": "text", "text": "fine"}], "usage": {"input_tokens": 5,
		"cache_read_input_tokens": 20, "cache_creation_input_tokens": 5, "output_tokens": 4}}`})
	response, err := quick().Complete(t.Context(), endpoint(models.Anthropic, server.URL), ask("Is it good?"))
	require.NoError(t, err)
	assert.Equal(t, models.Response{Text: "fine", Model: "m-1.5", Stop: models.Ended, Usage: metric.Usage{
		InputTokens: count(30), OutputTokens: count(4), CachedTokens: count(20),
	}}, response)
	sent := server.Requests()[0]
	assert.Equal(t, "/v1/messages", sent.Path)
	assert.Equal(t, key, sent.Header.Get("X-Api-Key"))
	assert.Equal(t, "2023-06-01", sent.Header.Get("Anthropic-Version"))
	assert.JSONEq(t, `{"model": "m-1", "max_tokens": 77,
		"system": [{"type": "text", "text": "You judge.", "cache_control": {"type": "ephemeral"}}],
		"messages": [{"role": "user", "content": [
			{"type": "text", "text": "The rubric.", "cache_control": {"type": "ephemeral"}},
			{"type": "text", "text": "Is it good?"}]}]}`, string(sent.Body))
}

func TestWhyAnAnswerEnded(t *testing.T) {
	t.Parallel()
	for api, raw := range map[models.API]string{
		models.OpenAI:    `{"choices": [{"finish_reason": "STOP", "message": {"content": "x"}}]}`,
		models.Anthropic: `{"type": "message", "stop_reason": "STOP", "content": [{"type": "text", "text": "x"}]}`,
	} {
		for said, want := range map[models.API]map[string]models.Stop{
			models.OpenAI:    {"length": models.Length, "content_filter": models.Refused, "odd": "odd"},
			models.Anthropic: {"max_tokens": models.Length, "refusal": models.Refused, "odd": "odd"},
		}[api] {
			server := modeltest.New(t, modeltest.Answer{Raw: strings.ReplaceAll(raw, "STOP", said)})
			response, err := quick().Complete(t.Context(), endpoint(api, server.URL), ask("?"))
			require.NoError(t, err)
			assert.Equal(t, models.Response{Text: "x", Stop: want}, response, "uncounted usage is unknown, not zero")
		}
	}
}

func TestErrorsAreTyped(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	t.Cleanup(elsewhere.Close)
	away := map[string]string{"Location": elsewhere.URL}
	huge := `{"choices": [{"message": {"content": "` + strings.Repeat("x", 9<<20) + `"}}]}`
	for name, c := range map[string]struct {
		step modeltest.Answer
		want models.ErrorKind
	}{
		"no key":    {modeltest.Fail(401, "bad "+key), models.Authentication},
		"forbidden": {modeltest.Fail(403, "no access to this model"), models.Authentication},
		"later":     {modeltest.Wait(3600), models.RateLimit},
		"quota": {
			modeltest.Answer{Status: 429, Code: "insufficient_quota", Message: "You exceeded"}, models.Budget,
		},
		"credit":    {modeltest.Fail(400, "Your credit balance is too low"), models.Budget},
		"unpaid":    {modeltest.Answer{Status: 402}, models.Budget},
		"too large": {modeltest.Answer{Status: 413, Code: "tokens_limit_reached"}, models.TooLarge},
		"too long":  {modeltest.Fail(400, "prompt is too long: 210000 tokens > 200000 maximum"), models.TooLarge},
		"unknown":   {modeltest.Fail(404, "no such model"), models.Invalid},
		"moved":     {modeltest.Answer{Status: 301, Header: away}, models.Invalid},
		"redirect":  {modeltest.Answer{Status: 307, Header: away}, models.Invalid},
		"no JSON":   {modeltest.Answer{Raw: "<html>"}, models.Malformed},
		"nothing":   {modeltest.Answer{Raw: `{"type": "x"}`}, models.Malformed},
		"huge":      {modeltest.Answer{Raw: huge}, models.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			for _, api := range []models.API{models.OpenAI, models.Anthropic} {
				failed, asked := failure(t, api, c.step)
				assert.Equal(t, c.want, failed.Kind, failed.Message)
				assert.NotContains(t, failed.Error(), key)
				assert.NotContains(t, failed.Error(), "\n")
				assert.Equal(t, 1, asked, "such a request is not sent again")
			}
		})
	}
	server := httptest.NewServer(nil)
	server.Close()
	_, err := quick().Complete(t.Context(), endpoint(models.OpenAI, server.URL), ask("?"))
	require.ErrorContains(t, err, string(models.Server)+": ")
}

func TestRetryAfterIsHandedOn(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"3600": time.Hour, "1e300": 366 * 24 * time.Hour, "NaN": 0, "-1": 0, "Mon, 02 Jan 2034 15:04:05 GMT": 0,
	} {
		failed, _ := failure(t, models.OpenAI, modeltest.Answer{
			Status: 429, Header: map[string]string{"Retry-After": header},
		})
		assert.Equal(t, want, failed.RetryAfter, header)
	}
}

func TestTriesFourTimesWhenTheServerDidNotDoTheWork(t *testing.T) {
	t.Parallel()
	soon := modeltest.Answer{Status: 429, Header: map[string]string{"Retry-After": "0.01"}}
	down, slow := modeltest.Fail(503, "overloaded"), modeltest.Answer{Status: 529}
	server := modeltest.New(t, down, soon, slow, modeltest.Text("at last"))
	response, err := quick().Complete(t.Context(), endpoint(models.Anthropic, server.URL), ask("?"))
	require.NoError(t, err)
	assert.Equal(t, "at last", response.Text)
	failed, asked := failure(t, models.OpenAI, slow, soon, slow, down)
	require.EqualError(t, failed, "server (HTTP 503): overloaded")
	assert.Equal(t, 4, asked)
}

func TestStallEndsInTime(t *testing.T) {
	t.Parallel()
	for limit := 50 * time.Millisecond; ; limit *= 4 {
		server := modeltest.New(t, modeltest.Stall())
		client := quick()
		client.PerAttempt = limit
		_, err := client.Complete(t.Context(), endpoint(models.OpenAI, server.URL), ask("?"))
		if len(server.Requests()) == 0 && limit < time.Minute {
			continue // the machine is too busy for a request in this time
		}
		var failed *models.Error
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, models.Timeout, failed.Kind)
		assert.Len(t, server.Requests(), 1, "what may have been answered is not paid for twice")
		return
	}
}

func TestDeadlineWhileWaitingKeepsTheCause(t *testing.T) {
	t.Parallel()
	server := modeltest.New(t, modeltest.Wait(20))
	var failed *models.Error
	for limit := 200 * time.Millisecond; limit < 20*time.Second; limit *= 4 { // one of these is enough for the answer
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err := quick().Complete(ctx, endpoint(models.OpenAI, server.URL), ask("?"))
		cancel()
		if require.Error(t, err); errors.As(err, &failed) && failed.Kind == models.RateLimit {
			break
		}
	}
	require.NotNil(t, failed)
	assert.Equal(t, models.RateLimit, failed.Kind)
	assert.Equal(t, 20*time.Second, failed.RetryAfter)
}

func TestAdaptsToTheEndpoint(t *testing.T) {
	t.Parallel()
	server := modeltest.New(t,
		modeltest.Answer{Status: 400, Message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' " +
			"instead."},
		modeltest.Answer{Status: 400, Message: "'response_format' of type 'json_object' is not supported."},
		modeltest.Answer{Text: "fine"})
	request := ask("?")
	request.JSON = true
	_, err := quick().Complete(t.Context(), endpoint(models.OpenAI, server.URL), request)
	require.NoError(t, err)
	last := string(server.Requests()[2].Body)
	assert.Contains(t, last, `"max_completion_tokens":77`)
	assert.NotContains(t, last, "max_tokens")
	assert.NotContains(t, last, "response_format")
}

func TestEndpointsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for _, row := range []string{ // API URL MODEL
		"openai http://models.example/ m", "openai models.example m", "openai https://me:pw@models.example m",
		"openai https://models.example ", "soap https://models.example m",
	} {
		part := strings.Split(row, " ")
		wrong := models.Endpoint{API: models.API(part[0]), URL: part[1], Key: key, Model: part[2]}
		_, err := quick().Complete(t.Context(), wrong, ask("?"))
		var failed *models.Error
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, models.Invalid, failed.Kind)
		golden.Row(t, row, failed.Message)
	}
}
