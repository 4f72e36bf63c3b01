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
	"github.com/org/autoloop/internal/metric"
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
	text := must(os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))))
	return string(text)
}

// answered is the reply of the agent on a request when the server gives these answers.
func answered(t *testing.T, request agent.Request, answers ...modeltest.Answer) (agent.Reply, []modeltest.Request) {
	t.Helper()
	server := modeltest.New(t, answers...)
	reply := must(modelsAgent(server).Propose(t.Context(), request))
	return reply, server.Requests()
}

func TestModelsEditsFiles(t *testing.T) {
	t.Parallel()
	request := modelsRequest(t)
	request.Notes, request.Model = "notes.md", "openai/gpt-4.1" // 2, 0.5 and 8 dollars for a million
	reply, sent := answered(t, request, modeltest.Answer{
		Text:  fits + "FILE: notes.md\n<<<<<<< WHOLE\nLESSON: one is few\n>>>>>>> WHOLE\n",
		Usage: modeltest.Tokens{Input: 1000, Cached: 400, Output: 100},
	})
	require.Nil(t, reply.Failure)
	assert.Equal(t, "zero\ntwo\n", get(t, request.Dir, "src/a.txt"))
	assert.Equal(t, "new\n", get(t, request.Dir, "src/new/b.txt"))
	assert.Equal(t, "LESSON: one is few\n", get(t, request.Dir, "notes.md"))
	assert.Equal(t, "two is better", reply.Summary)
	assert.Equal(t, []int64{1000, 400, 100},
		[]int64{*reply.Usage.InputTokens, *reply.Usage.CachedTokens, *reply.Usage.OutputTokens})
	assert.Equal(t, "0.0022", reply.Usage.CostUSD.String())
	for _, part := range []string{"Make it better.", "FILE: src/a.txt\n```\nzero\none\n```", "<<<<<<< SEARCH"} {
		assert.True(t, sent[0].Has(part), part)
	}
	assert.False(t, sent[0].Has("not yours"), "only target files are shown")
	kept := get(t, reply.Transcript, "")
	assert.Contains(t, kept, "two is better")
	assert.NotContains(t, kept, modelsKey)
}

func TestModelsRepairsOnce(t *testing.T) {
	t.Parallel()
	request := modelsRequest(t)
	reply, sent := answered(t, request, modeltest.Answer{Text: misses, Usage: modeltest.Tokens{Input: 10, Output: 1}},
		modeltest.Answer{Text: fits, Usage: modeltest.Tokens{Input: 20, Output: 2}})
	require.Nil(t, reply.Failure)
	assert.Equal(t, "zero\ntwo\n", get(t, request.Dir, "src/a.txt"))
	assert.Equal(t, "not yours\n", get(t, request.Dir, "other.txt"))
	assert.EqualValues(t, 30, *reply.Usage.InputTokens)
	assert.EqualValues(t, 2, *reply.Usage.Turns)
	for _, part := range []string{"exactly as given: `uno`", "other.txt: this file may not be changed", "PLAN: x"} {
		assert.True(t, sent[1].Has(part), part)
	}
}

// TestModelsChangesNothingUnlessAllFits: an answer of which one edit does not fit, or that was
// cut off between two edits, is not made, nor one through a link.
func TestModelsChangesNothingUnlessAllFits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		stop models.Stop
		link bool
		want string
	}{
		"one edit does not fit": {
			fits + "FILE: src/a.txt\n<<<<<<< SEARCH\none\n=======\nthree\n>>>>>>> REPLACE\n", "", false, "src/a.txt",
		},
		"cut off":          {fits, models.Length, false, "too long"},
		"refused":          {fits, models.Refused, false, "refusal"},
		"a link out of it": {fits, "", true, "src/a.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []models.Request
			m := modelsAgent(modeltest.New(t))
			m.Complete = func(_ context.Context, _ models.Endpoint, request models.Request) (models.Response, error) {
				asked = append(asked, request)
				return models.Response{Text: c.text, Stop: c.stop}, nil
			}
			request, outside := modelsRequest(t), t.TempDir()
			if c.link {
				put(t, outside, "a.txt", "zero\none\n")
				require.NoError(t, os.Remove(filepath.Join(request.Dir, "src/a.txt")))
				require.NoError(t, os.Symlink(filepath.Join(outside, "a.txt"), filepath.Join(request.Dir, "src/a.txt")))
			}
			reply := must(m.Propose(t.Context(), request))
			require.NotNil(t, reply.Failure)
			assert.Equal(t, agent.Crashed, reply.Failure.Kind)
			assert.Contains(t, reply.Failure.Message, c.want)
			require.Len(t, asked, 2)
			assert.Contains(t, asked[1].Messages[len(asked[1].Messages)-1].Text, c.want)
			assert.Equal(t, "zero\none\n", get(t, request.Dir, "src/a.txt"))
			assert.NoFileExists(t, filepath.Join(request.Dir, "src/new/b.txt"))
		})
	}
}

// TestModelsHoldsItselfToItsLimit: an answer is no longer than what is left, and
// there is no second one when nothing is.
func TestModelsHoldsItselfToItsLimit(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int64]int{0: 2, 1 << 20: 2, 500: 1} {
		request := modelsRequest(t)
		request.Limit = metric.Limit{Tokens: limit}
		reply, sent := answered(t, request,
			modeltest.Answer{Text: misses, Usage: modeltest.Tokens{Input: 600, Output: 60}}, modeltest.Text(fits))
		require.Len(t, sent, want)
		if want > 1 {
			require.Nil(t, reply.Failure)
			assert.NotContains(t, string(sent[0].Body), "max_")
			continue
		}
		assert.Regexp(t, `"max_(completion_)?tokens":500`, string(sent[0].Body))
		require.NotNil(t, reply.Failure)
		assert.Equal(t, agent.Budget, reply.Failure.Kind)
	}
}

func TestModelsMayChangeNothing(t *testing.T) {
	t.Parallel()
	reply, sent := answered(t, modelsRequest(t), modeltest.Text("PLAN: it is perfect\nNothing should change."))
	assert.Nil(t, reply.Failure)
	assert.Equal(t, "it is perfect", reply.Summary)
	assert.Len(t, sent, 2, "it is asked whether it means that")
}

func TestModelsFailures(t *testing.T) {
	t.Parallel()
	for want, answer := range map[agent.FailureKind]modeltest.Answer{
		agent.Authentication: modeltest.Fail(401, "bad "+modelsKey),
		agent.RateLimit:      modeltest.Wait(3600),
		agent.Budget:         modeltest.Fail(402, "pay"),
		agent.Unavailable:    modeltest.Fail(404, "no such model"),
		agent.Crashed:        modeltest.Fail(413, "too large"),
		agent.Timeout:        modeltest.Stall(),
	} {
		t.Run(string(want), func(t *testing.T) {
			t.Parallel()
			request := modelsRequest(t)
			if answer.Stall {
				request.Timeout = 50 * time.Millisecond
			}
			reply, _ := answered(t, request, answer)
			require.NotNil(t, reply.Failure)
			assert.Equal(t, want, reply.Failure.Kind, reply.Failure.Message)
			if want == agent.RateLimit {
				assert.Equal(t, now().Add(time.Hour), *reply.Failure.RetryAt)
			}
			assert.NotContains(t, reply.Failure.Message+get(t, reply.Transcript, ""), modelsKey)
			assert.Nil(t, reply.Usage.InputTokens, "unknown is not zero")
		})
	}
	lacking := &agent.Models{Lacks: "set a key"}
	assert.Equal(t, "set a key", lacking.Missing(agent.Request{}))
	reply := must(lacking.Propose(t.Context(), agent.Request{}))
	assert.Equal(t, &agent.Failure{Kind: agent.Unavailable, Message: "set a key"}, reply.Failure)
}

func TestModelsShowsWhatFits(t *testing.T) {
	t.Parallel()
	request := modelsRequest(t)
	put(t, request.Dir, "src/large.txt", strings.Repeat("large\n", 100))
	put(t, request.Dir, "src/binary", "\x00\x01")
	put(t, request.Dir, "src/huge.txt", strings.Repeat("huge\n", 100_000))
	request.Targets = []string{"src/a.txt", "src/binary", "src/huge.txt", "src/large.txt", "src/missing"}
	reply, sent := answered(t, request, modeltest.Fail(413, "Max size: 100 tokens"), modeltest.Text(fits))
	require.Nil(t, reply.Failure)
	assert.True(t, sent[0].Has("large\nlarge"))
	assert.False(t, sent[0].Has("huge\nhuge"))
	assert.False(t, sent[1].Has("large\nlarge"), "after a refusal fewer files are shown")
	assert.True(t, sent[1].Has("zero\none"))
	assert.True(t, sent[1].Has(`no text: "src/binary", "src/missing", "src/large.txt", "src/huge.txt"`))
}
