package modeltest_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/models/client/modeltest"
)

// reply is what came beside the body.
type reply struct {
	StatusCode int
	Header     http.Header
}

func post(t *testing.T, url, body string) (reply, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader([]byte(body)))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer key")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return reply{response.StatusCode, response.Header}, string(data)
}

func TestEveryProtocolAnswersInTurn(t *testing.T) {
	t.Parallel()
	for path, body := range map[string]string{
		"/v1/messages":         `{"model":"m","stream":%t,"tools":[{"name":"edit"}]}`,
		"/v1/responses":        `{"model":"m","stream":true,"tools":[{"type":"function","name":"edit"}]}`,
		"/v1/chat/completions": `{"model":"m","stream":true,"tools":[{"type":"function","function":{"name":"edit"}}]}`,
		"/v1beta/models/m:streamGenerateContent?alt=sse": `{"tools":[{"functionDeclarations":[{"name":"edit"}]}]}`,
	} {
		server := modeltest.NewForAgents(t, modeltest.Use("edit", map[string]string{"path": "a.txt"}),
			modeltest.Text("Made it better."))
		body = string(bytes.ReplaceAll([]byte(body), []byte("%t"), []byte("true")))
		_, probe := post(t, server.URL+path, `{"model":"m"}`)
		assert.Contains(t, probe, `"ok"`, path)
		_, first := post(t, server.URL+path, body)
		assert.Contains(t, first, "a.txt", path)
		_, second := post(t, server.URL+path, body)
		assert.Contains(t, second, "Made it better.", path)
		requests := server.Requests()
		require.Len(t, requests, 3)
		assert.Equal(t, []string{"edit"}, requests[1].Tools, path)
		assert.Equal(t, "m", requests[1].Model, path)
		assert.Equal(t, "key", requests[1].Key(), path)
		assert.True(t, requests[1].Stream, path)
		assert.Equal(t, 2, server.Asked(), path)
	}
}

func TestErrorsCarryTheirHeaders(t *testing.T) {
	t.Parallel()
	server := modeltest.New(t, modeltest.Wait(7), modeltest.Fail(http.StatusUnauthorized, "bad key"),
		modeltest.Text("fine"))
	first, _ := post(t, server.URL+"/v1/chat/completions", `{}`)
	assert.Equal(t, http.StatusTooManyRequests, first.StatusCode)
	assert.Equal(t, "7", first.Header.Get("Retry-After"))
	second, text := post(t, server.URL+"/v1/messages", `{}`)
	assert.Equal(t, http.StatusUnauthorized, second.StatusCode)
	assert.Contains(t, text, "bad key")
	_, text = post(t, server.URL+"/v1/chat/completions", `{}`)
	assert.Contains(t, text, `"content":"fine"`)
	missing, _ := post(t, server.URL+"/elsewhere", `{}`)
	assert.Equal(t, http.StatusNotFound, missing.StatusCode)
}
