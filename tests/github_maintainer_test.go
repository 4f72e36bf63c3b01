package tests

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

// byName runs program p because somebody asks for it by name, in one job or in two, and
// returns all that was printed.
func (h *hub) byName(twoJobs bool, flags ...string) string {
	h.t.Helper()
	flags = append([]string{"--program", "p"}, flags...)
	if !twoJobs {
		a := h.binary("iterate", flags...)
		require.Zero(h.t, a.code, a.stderr)
		return a.stdout + a.stderr
	}
	begun := h.answer(h.jobs.job(hubToken, append([]string{"job", "begin"}, flags...)...))
	require.Zero(h.t, begun.code, begun.stderr)
	if !strings.Contains(begun.stdout, " begins ") {
		return begun.stdout + begun.stderr
	}
	dir := filepath.Join(h.t.TempDir(), "bundle")
	proposed := h.answer(h.jobs.job(readToken, append([]string{"job", "propose", "--out", dir}, flags...)...))
	require.Zero(h.t, proposed.code, proposed.stderr)
	published := h.answer(h.jobs.job(hubToken, append([]string{"job", "publish", dir}, flags...)...))
	require.Zero(h.t, published.code, published.stderr)
	return begun.stdout + proposed.stdout + published.stdout
}

// TestACutAnswerIsNotKept cuts every answer of the API once, with an ETag: it is no
// answer, and the next run reads it whole.
func TestACutAnswerIsNotKept(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h := newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n"}, "9", "8")
		h.env = append(h.env, "AUTOLOOP_GITHUB_PATIENCE=0s")
		h.program(onIssue)
		h.Fail(githubtest.Fault{Kind: githubtest.Cut, Path: "/issues", Times: 1000})
		for _, binary := range []string{"scheduler", "iterate"} {
			h.binary(binary, map[string][]string{"iterate": {"--program", "p"}}[binary]...)
		}
		h.Mend()
		require.Equal(t, "accepted", h.one().Outcome)
		assert.Contains(t, h.plan().IssuePrograms, "p")
	})
}

// TestWordsOfAnAgentDoNothing has an agent that says all that GitHub or Autoloop act on.
func TestWordsOfAnAgentDoNothing(t *testing.T) {
	t.Parallel()
	const says = "[skip ci] :white_check_mark: Fixes #1, closes o/r#2, resolves GH-3, see " +
		"0a1b2c3d4e5f60718293a4b5c6d7e8f901234567 and https://evil.example/x www.evil.example @mallory /autoloop run " +
		"✅ CI is green: 12 checks"
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h := newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n"}, "9", "11")
		h.program(strings.Replace(onIssue, `"try $value, says @octocat <b>"`, "'"+says+"'", 1))
		require.Equal(t, "accepted", h.one().Outcome)
		require.Equal(t, "rejected", h.one().Outcome)
		texts := map[string]string{
			"commit": h.run(h.bare, "git", "log", "-1", "--format=%B", "autoloop/p"), "pull request": h.pullBody(),
			"state": h.remembered("p.md"),
			"title": h.site.look().Issue(h.openPull()).Title,
		}
		comments := 0
		for _, c := range h.site.look().On(1) {
			comments++
			texts["comment "+strconv.Itoa(comments)] = c.Body
		}
		require.GreaterOrEqual(t, comments, 3)
		for name, text := range texts {
			for _, word := range []string{
				"Fixes #1", "o/r#2", "GH-3", "0a1b2c3", "https://evil", "www.evil", "@mallory",
				"/autoloop run ", "✅ CI is green", ":white_check_mark:", "[skip ci]",
			} {
				assert.NotContains(t, text, word, name)
			}
		}
		assert.Contains(t, strings.ReplaceAll(texts["commit"], "\u200b", ""), "closes", "it reads the same")
	})
}

// TestAMaintainerIsToldWhatMatters counts what people get by default in a run of
// iterations, and how long and how exact it is.
func TestAMaintainerIsToldWhatMatters(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h := newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n"}, "9.123456789", "11", "12", "fail",
			"8.987654321",
			"13")
		h.env = append(append(h.env, inActions(7, 1)...), "GITHUB_SERVER_URL=https://github.test")
		h.ended()
		h.program(strings.NewReplacer("comments: all\n", "", "target-metric: 2", "target-metric: 8",
			"try $value, says @octocat <b>", "another try").Replace(onIssue))
		posts := func() (list []string) {
			for _, c := range h.site.look().On(1) {
				if c.Author == h.site.look().Me {
					list = append(list, c.Body)
				}
			}
			return list
		}
		require.Equal(t, "accepted", h.one().Outcome)
		require.Len(t, posts(), 2)
		status := func() string {
			for _, body := range posts() {
				if strings.HasPrefix(body, "<!-- AUTOLOOP:STATUS -->") {
					return body
				}
			}
			return ""
		}
		assert.Contains(t, status(), "1 iteration: 1 kept")
		for _, outcome := range []string{"rejected", "rejected", "error", "accepted", "rejected"} {
			require.Equal(t, outcome, h.one().Outcome)
		}
		assert.Len(t, posts(), 3, "the status and two that were accepted")
		glance, _, _ := strings.Cut(status(), "<details>")
		assert.Less(t, len(glance), 2048)
		assert.Contains(t, glance, "6 iterations: 2 kept, 3 not kept, 1 error")
		assert.Contains(t, glance, "/actions/runs/7")
		for _, body := range append(posts(), h.pullBody()) {
			shown, _, _ := strings.Cut(body, "⚙️ Machine State")
			assert.NotContains(t, shown, "8.987654321")
			assert.NotContains(t, shown, "1 iterations")
		}
		assert.Contains(t, h.ledger(), "8.987654321")
		assert.Contains(t, h.pullBody(), "8.98765")
		assert.Contains(t, h.pullBody(), "git fetch")
		for _, body := range []string{status(), h.pullBody()} {
			_, chart, found := strings.Cut(body, "```mermaid\n")
			require.True(t, found, body)
			assert.Regexp(t, `bar \[[^]]*11, 12[^]]*\]`, chart, "every candidate")
			assert.Regexp(t, `line \[10, 9\.12346, [^]]*8\.98765\]`, chart, "the best")
			assert.Contains(t, chart, "line [8, 8", "the target")
		}

		h.say("alice", "/autoloop pause until Monday")
		h.byName(twoJobs)
		assert.Contains(t, status(), "Paused")
		assert.Contains(t, status(), "until Monday")
		assert.Contains(t, status(), "`/autoloop resume`")
		notices := 0
		for _, body := range posts() {
			notices += strings.Count(body, "<!-- AUTOLOOP:NOTICE")
		}
		assert.Equal(t, 1, notices)
	})
}

// TestProposingAcceptsNothing has the summary of the job that proposes.
func TestProposingAcceptsNothing(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9")
	j := h.inTwoJobs()
	h.program(onIssue)
	summary := filepath.Join(h.side, "summary")
	h.env = append(h.env, "GITHUB_STEP_SUMMARY="+summary)
	h.env = append(h.env, inActions(7, 1)...)
	h.ended()
	if begun, reason := j.begin(); !begun {
		require.Fail(t, reason)
	}
	dir, _ := j.propose()
	assert.NotContains(t, h.beside("summary"), "kept")
	assert.Contains(t, h.beside("summary"), "better")
	j.publish(dir)
	assert.Contains(t, h.beside("summary"), "kept")
}
