package tests

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
)

// evilBranch is a branch whose name git takes and no shell should.
const evilBranch = "autoloop/$(touch${IFS}$TRAP);`touch${IFS}$TRAP`${{github.token}}"

// evilPull is a pull request as an event has it, all of whose text is evil.
func evilPull(number int, repository, base, commit string) map[string]any {
	return map[string]any{
		"number": number, "title": evil, "body": evil, "user": map[string]any{"login": "mallory"},
		"author_association": "NONE",
		"labels":             []any{map[string]any{"name": evil}, map[string]any{"name": "autoloop-program"}},
		"base":               map[string]any{"sha": base, "ref": "main"},
		"head": map[string]any{
			"sha": commit, "ref": evilBranch, "label": "mallory:" + evilBranch,
			"repo": map[string]any{"full_name": repository, "description": evil},
		},
	}
}

// TestActObeysNoPullRequest has a stranger's pull request, with the title, the
// label and the branch of a program of ours or with text that is made to be
// obeyed, take part in everything that starts a workflow. It changes nothing.
func TestActObeysNoPullRequest(t *testing.T) {
	t.Parallel()
	r := newRunner(t, map[string]string{"value.txt": "10\n"}, split...)
	trap := filepath.Join(r.side, "trap")
	r.more = append(r.more, "TRAP="+trap)
	r.program(countdown)
	require.Zero(t, r.trigger("schedule", everyHour).code)
	ours := r.openPull()
	theirs := map[int]string{}
	var summary string
	r.Change(func(s *githubtest.State) {
		for title, branch := range map[string]string{evil: evilBranch, "[Autoloop: p]": "autoloop/p"} {
			pull := s.OpenIssue("mallory", title, evil, time.Now(), "autoloop-program", "autoloop")
			s.Pulls = append(s.Pulls,
				&githubtest.Pull{
					Number: pull.Number, Head: branch, Base: "main", HeadOf: "mallory/repo",
					HeadSHA: strings.Repeat("0", 40),
				})
			theirs[pull.Number] = title
			s.Say("mallory", pull.Number, "/autoloop "+evil, time.Now())
			s.Say("mallory", pull.Number, "/autoloop pause", time.Now())
		}
		s.Issue(ours).Title = evil // a person's edit: the next gain sets it right
	})
	was := head(t, r.bare, "main")
	summary = head(t, r.bare, "memory/autoloop")
	r.seen()

	suite := func(branch string) map[string]any {
		return map[string]any{"action": "completed", "check_suite": map[string]any{
			"head_branch": branch, "conclusion": "success", "app": map[string]any{"slug": evil},
			"pull_requests": []any{evilPull(7, "mallory/repo", was, strings.Repeat("0", 40))},
		}}
	}
	ended := finished("mallory/repo", evilBranch)
	run, _ := ended["workflow_run"].(map[string]any)
	maps.Copy(run, map[string]any{"name": evil, "display_title": evil, "head_commit": map[string]any{"message": evil}})
	var runs []workflowRun
	trigger := func(event string, payload map[string]any) workflowRun {
		runs = append(runs, r.trigger(event, payload))
		require.Zero(t, runs[len(runs)-1].code, runs[len(runs)-1])
		return runs[len(runs)-1]
	}
	for number := range theirs {
		said := comment(number, "mallory", "NONE", "/autoloop "+evil)
		assert.Empty(t, trigger("issue_comment", said).results(), "a stranger starts no job")
	}
	assert.Empty(t, trigger("workflow_run", ended).results(), "nor does CI of a fork")
	assert.Empty(t, r.seen())
	for number, title := range theirs {
		r.Change(func(s *githubtest.State) { s.Say("alice", number, "/autoloop run\n"+evil, time.Now()) })
		said := comment(number, "alice", "OWNER", "/autoloop run\n"+evil)
		issue, _ := said["issue"].(map[string]any)
		maps.Copy(issue, map[string]any{"title": title, "body": evil, "pull_request": map[string]any{"url": evil}})
		assert.Equal(t, map[string]string{"Autoloop/steer": "success"}, trigger("issue_comment", said).results(),
			"it belongs to no program")
	}
	assert.Empty(t, wrote(r.seen()))
	assert.Equal(t, summary, head(t, r.bare, "memory/autoloop"))

	trigger("check_suite", suite(evilBranch)) // as any event of CI, it has what is due looked at
	trigger("schedule", everyHour)
	assert.Equal(t, ours, r.openPull(), "a fork's pull request is not ours")
	for _, run := range runs {
		run.obeyed(t)
	}
	assert.NoFileExists(t, trap)
	assert.Equal(t, was, head(t, r.bare, "main"))
	r.Change(func(s *githubtest.State) {
		for number, title := range theirs {
			assert.Equal(t, title, s.Issue(number).Title)
			assert.Equal(t, evil, s.Issue(number).Body)
			assert.True(t, s.Issue(number).Open)
			assert.Len(t, s.On(number), 3, "nobody answers on a stranger's pull request")
		}
	})
}
