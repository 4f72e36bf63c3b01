package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/agent/models/client"
	"github.com/org/autoloop/internal/agent/models/client/modeltest"
	"github.com/org/autoloop/internal/process"
)

const (
	modelsKey = "models-key-of-the-test"
	fits      = "PLAN: two is better\nFILE: src/a.txt\n<<<<<<< SEARCH\none\n=======\ntwo\n>>>>>>> REPLACE\n" +
		"FILE: src/new/b.txt\n<<<<<<< WHOLE\nnew\n>>>>>>> WHOLE\n"
	misses = "PLAN: x\nFILE: src/a.txt\n<<<<<<< SEARCH\nuno\n=======\ntwo\n>>>>>>> REPLACE\nFILE: other.txt\n" +
		"<<<<<<< WHOLE\nx\n>>>>>>> WHOLE\n"
)

func now() time.Time { return time.Date(2025, 1, 15, 10, 30, 0, 0, time.UTC) }

// models is the agent with a real client and a scripted server.
func modelsAgent(server *modeltest.Server) *agent.Models {
	client := &client.Client{Pause: time.Millisecond}
	return &agent.Models{
		Complete: client.Complete, Now: now, Masker: process.NewMasker(nil, modelsKey),
		Endpoint: models.Endpoint{API: models.OpenAI, URL: server.URL, Key: modelsKey, Model: "m-1"},
	}
}

func modelsRequest(t *testing.T) agent.Request {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, "src/a.txt", "zero\none\n")
	put(t, dir, "other.txt", "not yours\n")
	return agent.Request{
		Dir: dir, Prompt: "Make it better.", Targets: []string{"src/a.txt"}, Timeout: time.Minute,
		IsTarget:   func(path string) bool { return strings.HasPrefix(path, "src/") },
		Transcript: filepath.Join(t.TempDir(), "transcript.md"),
	}
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
}

func get(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(text)
}

func TestModelsEditsFiles(t *testing.T) {
	t.Parallel()
	server := modeltest.New(t, modeltest.Answer{
		Text:  fits,
		Usage: modeltest.Tokens{Input: 300, Cached: 100, Output: 40},
	})
	request := modelsRequest(t)
	reply, err := modelsAgent(server).Propose(t.Context(), request)
	require.NoError(t, err)
	require.Nil(t, reply.Failure)
	assert.Equal(t, "zero\ntwo\n", get(t, request.Dir, "src/a.txt"))
	assert.Equal(t, "new\n", get(t, request.Dir, "src/new/b.txt"))
	assert.Equal(t, "two is better", reply.Summary)
	assert.EqualValues(t, 300, *reply.Usage.InputTokens)
	assert.EqualValues(t, 100, *reply.Usage.CachedTokens)
	assert.EqualValues(t, 40, *reply.Usage.OutputTokens)
	assert.Equal(t, 1, *reply.Usage.Turns)
	assert.Nil(t, reply.Usage.CostUSD, "nobody knows the price of m-1")
	sent := server.Requests()[0]
	for _, part := range []string{"Make it better.", "FILE: src/a.txt\n```\nzero\none\n```", "<<<<<<< SEARCH"} {
		assert.True(t, sent.Has(part), part)
	}
	assert.False(t, sent.Has("not yours"), "only target files are shown")
	kept := get(t, reply.Transcript, "")
	assert.Contains(t, kept, "two is better")
	assert.NotContains(t, kept, modelsKey)
}

func TestModelsCostFromThePriceTable(t *testing.T) {
	t.Parallel()
	agent := modelsAgent(modeltest.New(t,
		modeltest.Answer{Text: fits, Usage: modeltest.Tokens{Input: 1000, Cached: 400, Output: 100}}))
	request := modelsRequest(t)
	request.Model = "openai/gpt-4.1" // 2, 0.5 and 8 dollars for a million
	reply, err := agent.Propose(t.Context(), request)
	require.NoError(t, err)
	require.NotNil(t, reply.Usage.CostUSD)
	assert.Equal(t, "0.0022", reply.Usage.CostUSD.String())
}

func TestModelsRepairsOnce(t *testing.T) {
	t.Parallel()
	server := modeltest.New(t, modeltest.Answer{Text: misses, Usage: modeltest.Tokens{Input: 10, Output: 1}},
		modeltest.Answer{Text: fits, Usage: modeltest.Tokens{Input: 20, Output: 2}})
	request := modelsRequest(t)
	reply, err := modelsAgent(server).Propose(t.Context(), request)
	require.NoError(t, err)
	require.Nil(t, reply.Failure)
	assert.Equal(t, "zero\ntwo\n", get(t, request.Dir, "src/a.txt"))
	assert.Equal(t, "not yours\n", get(t, request.Dir, "other.txt"))
	assert.EqualValues(t, 30, *reply.Usage.InputTokens)
	assert.Equal(t, 2, *reply.Usage.Turns)
	second := server.Requests()[1]
	assert.True(t, second.Has("src/a.txt: the lines to find are not in the file exactly as given: `uno`"))
	assert.True(t, second.Has("other.txt: this file may not be changed"))
	assert.True(t, second.Has("PLAN: x"), "its own words are before it")
}

func TestModelsChangesNothingUnlessAllFits(t *testing.T) {
	t.Parallel()
	half := fits + "FILE: src/a.txt\n<<<<<<< SEARCH\none\n=======\nthree\n>>>>>>> REPLACE\n"
	server := modeltest.New(t, modeltest.Text(half))
	request := modelsRequest(t)
	reply, err := modelsAgent(server).Propose(t.Context(), request)
	require.NoError(t, err)
	require.NotNil(t, reply.Failure)
	assert.Equal(t, agent.Crashed, reply.Failure.Kind)
	assert.Contains(t, reply.Failure.Message, "do not fit, in a second answer either: src/a.txt")
	assert.Equal(t, "zero\none\n", get(t, request.Dir, "src/a.txt"))
	assert.NoFileExists(t, filepath.Join(request.Dir, "src/new/b.txt"))
	assert.Len(t, server.Requests(), 2)
}

// TestModelsDoesNotTakeHalfAnAnswer: one that was cut off between two edits, or
// that a filter ended, fits and is not made.
func TestModelsDoesNotTakeHalfAnAnswer(t *testing.T) {
	t.Parallel()
	for stop, want := range map[models.Stop]string{
		models.Length:  "cut off because it is too long",
		models.Refused: "the answer is a refusal",
	} {
		var asked []models.Request
		m := modelsAgent(modeltest.New(t))
		m.Complete = func(_ context.Context, _ models.Endpoint, request models.Request) (models.Response, error) {
			asked = append(asked, request)
			return models.Response{Text: fits, Stop: stop}, nil
		}
		request := modelsRequest(t)
		reply, err := m.Propose(t.Context(), request)
		require.NoError(t, err)
		require.NotNil(t, reply.Failure, stop)
		assert.Contains(t, reply.Failure.Message, want)
		require.Len(t, asked, 2)
		assert.Contains(t, asked[1].Messages[len(asked[1].Messages)-1].Text, want)
		assert.Equal(t, "zero\none\n", get(t, request.Dir, "src/a.txt"))
	}
}

// TestModelsHoldsItselfToItsLimit: an answer is no longer than what is left, and
// there is no second one when nothing is.
func TestModelsHoldsItselfToItsLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit agent.Limit
		asked int
	}{
		"none":  {agent.Limit{}, 2},
		"ample": {agent.Limit{Tokens: 1 << 20}, 2},
		"short": {agent.Limit{Tokens: 500}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := modeltest.New(t, modeltest.Answer{Text: misses, Usage: modeltest.Tokens{Input: 600, Output: 60}},
				modeltest.Text(fits))
			request := modelsRequest(t)
			request.Limit = c.limit
			reply, err := modelsAgent(server).Propose(t.Context(), request)
			require.NoError(t, err)
			require.Len(t, server.Requests(), c.asked)
			body := string(server.Requests()[0].Body)
			if c.asked > 1 {
				require.Nil(t, reply.Failure)
				assert.NotContains(t, body, "max_")
				return
			}
			assert.Regexp(t, `"max_(completion_)?tokens":500`, body)
			require.NotNil(t, reply.Failure)
			assert.Equal(t, agent.Budget, reply.Failure.Kind)
		})
	}
}

func TestModelsHandsBackNotes(t *testing.T) {
	t.Parallel()
	server := modeltest.New(t, modeltest.Text(fits+
		"FILE: notes.md\n<<<<<<< WHOLE\nLESSON: one is few\n>>>>>>> WHOLE\n"))
	request := modelsRequest(t)
	request.Notes = "notes.md"
	reply, err := modelsAgent(server).Propose(t.Context(), request)
	require.NoError(t, err)
	require.Nil(t, reply.Failure)
	assert.Equal(t, "LESSON: one is few\n", get(t, request.Dir, "notes.md"))
}

func TestModelsMayChangeNothing(t *testing.T) {
	t.Parallel()
	server := modeltest.New(t, modeltest.Text("PLAN: it is perfect\nNothing should change."))
	reply, err := modelsAgent(server).Propose(t.Context(), modelsRequest(t))
	require.NoError(t, err)
	assert.Nil(t, reply.Failure)
	assert.Equal(t, "it is perfect", reply.Summary)
	assert.Len(t, server.Requests(), 2, "it is asked whether it means that")
}

func TestModelsFailures(t *testing.T) {
	t.Parallel()
	later := now().Add(time.Hour)
	cases := []struct {
		name   string
		answer modeltest.Answer
		want   agent.FailureKind
		at     *time.Time
	}{
		{"no key", modeltest.Fail(401, "bad "+modelsKey), agent.Authentication, nil},
		{"rate limit", modeltest.Wait(3600), agent.RateLimit, &later},
		{"money", modeltest.Fail(402, "pay"), agent.Budget, nil},
		{"down", modeltest.Fail(500, "down"), agent.Crashed, nil},
		{"no such model", modeltest.Fail(404, "no such model"), agent.Unavailable, nil},
		{"prompt too large", modeltest.Fail(413, "too large"), agent.Crashed, nil},
		{"malformed", modeltest.Answer{Raw: "{"}, agent.Crashed, nil},
		{"stall", modeltest.Stall(), agent.Timeout, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			request := modelsRequest(t)
			if c.answer.Stall {
				request.Timeout = 50 * time.Millisecond
			}
			reply, err := modelsAgent(modeltest.New(t, c.answer)).Propose(t.Context(), request)
			require.NoError(t, err)
			require.NotNil(t, reply.Failure)
			assert.Equal(t, c.want, reply.Failure.Kind, reply.Failure.Message)
			assert.Equal(t, c.at, reply.Failure.RetryAt)
			assert.NotContains(t, reply.Failure.Message, modelsKey)
			assert.NotContains(t, get(t, reply.Transcript, ""), modelsKey)
			assert.Nil(t, reply.Usage.InputTokens, "unknown is not zero")
		})
	}
}

func TestModelsShowsWhatFits(t *testing.T) {
	t.Parallel()
	server := modeltest.New(t, modeltest.Fail(413, "Max size: 100 tokens"), modeltest.Text(fits))
	request := modelsRequest(t)
	put(t, request.Dir, "src/large.txt", strings.Repeat("large\n", 100))
	put(t, request.Dir, "src/binary", "\x00\x01")
	put(t, request.Dir, "src/huge.txt", strings.Repeat("huge\n", 100_000))
	request.Targets = []string{"src/a.txt", "src/binary", "src/huge.txt", "src/large.txt", "src/missing"}
	reply, err := modelsAgent(server).Propose(t.Context(), request)
	require.NoError(t, err)
	require.Nil(t, reply.Failure)
	first, second := server.Requests()[0], server.Requests()[1]
	assert.True(t, first.Has("large\nlarge"))
	assert.False(t, first.Has("huge\nhuge"))
	assert.False(t, second.Has("large\nlarge"), "after a refusal fewer files are shown")
	assert.True(t, second.Has("zero\none"))
	assert.True(t, second.Has(`no text: "src/binary", "src/missing", "src/large.txt", "src/huge.txt"`))
}

func TestModelsNeedsAnEndpoint(t *testing.T) {
	t.Parallel()
	lacking := &agent.Models{Lacks: "set a key"}
	assert.Equal(t, "set a key", lacking.Missing(agent.Situation{}))
	reply, err := lacking.Propose(t.Context(), agent.Request{})
	require.NoError(t, err)
	assert.Equal(t, &agent.Failure{Kind: agent.Unavailable, Message: "set a key"}, reply.Failure)
}

func TestModelsFollowsNoLinkOut(t *testing.T) {
	t.Parallel()
	request := modelsRequest(t)
	outside := t.TempDir()
	put(t, outside, "a.txt", "zero\none\n")
	require.NoError(t, os.Remove(filepath.Join(request.Dir, "src/a.txt")))
	if err := os.Symlink(filepath.Join(outside, "a.txt"), filepath.Join(request.Dir, "src/a.txt")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	reply, err := modelsAgent(modeltest.New(t, modeltest.Text(fits))).Propose(t.Context(), request)
	require.NoError(t, err)
	require.NotNil(t, reply.Failure)
	assert.Equal(t, "zero\none\n", get(t, outside, "a.txt"))
}
