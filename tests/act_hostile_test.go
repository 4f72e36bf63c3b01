package tests

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
)

// evil is text that a shell, a runner or an expression would act on. $TRAP is a
// file that must never be there.
const evil = "x'\"; touch $TRAP; $(touch $TRAP) `touch $TRAP` && ${{ github.token }} ${{ secrets.GITHUB_TOKEN }} | <b>\n" +
	"::set-output name=has-work::evil\n::set-env name=PATH::/evil\n::add-mask::value\n" +
	"::error file=evil.go,line=1::evil\n" +
	"::add-path::/evil\n##[set-output name=selected]evil\n::stop-commands::evil\nselected=evil\n"

// TestActObeysNoText gives workflows and action text that is made to be obeyed,
// wherever people can write: it changes nothing but its own text.
func TestActObeysNoText(t *testing.T) {
	t.Parallel()
	body := strings.Replace(countdown, "Move the number.", "Move the number.\n\n"+evil, 1)
	body = strings.Replace(body, `&& echo "one less"`,
		`&& printf '%s\n' 'one less' '::set-output name=has-work::evil' '::error file=evil.go::evil' '${{ `+
			`github.token }}' >&2; printf '::set-output name=selected::evil\n$(touch $TRAP) ${{ github.token }}\n'`, 1)
	body = strings.Replace(body, "printf '{",
		"printf '::set-output name=selected::evil\\n::add-path::/evil\\n'\nprintf '::warning::evil\\n' >&2\nprintf '{", 1)
	r := newRunner(t, map[string]string{
		"value.txt":                            "10\n",
		".autoloop/programs/$(touch $TRAP).md": countdown,
		".autoloop/programs/`touch $TRAP`;::error ::${{ 1 }}\nx.md": countdown,
		".autoloop/programs/q.md": strings.Replace(countdown, "every 6h",
			"\"::set-output name=selected::evil $(touch $TRAP)\"", 1),
	}, append(split, "autoloop-validate.yml")...)
	trap := filepath.Join(r.side, "trap")
	r.more = append(r.more, "TRAP="+trap)
	branch := evilBranch
	r.run(r.bare, "git", "branch", branch, "main")
	r.program(body)
	r.Change(func(s *githubtest.State) {
		s.Issue(1).Title = evil
		s.OpenIssue("mallory", evil, body, s.Issue(1).Created, "autoloop-program")
	})
	was := r.run(r.bare, "git", "rev-parse", branch)

	runs := []workflowRun{
		r.trigger("schedule", everyHour),
		r.trigger("workflow_dispatch", dispatched(evil)),
		r.trigger("workflow_run", finished("org/repo", branch)),
	}
	require.Zero(t, runs[0].code, runs[0])
	require.NotZero(t, runs[1].code, "no program has that name")
	require.Zero(t, runs[2].code, runs[2])
	r.say("alice", "/autoloop run\n"+evil)
	r.say("alice", "/autoloop "+evil)
	runs = append(runs, r.trigger("issue_comment", comment(1, "alice", "OWNER", "/autoloop "+evil)))
	require.Zero(t, runs[3].code, runs[3])
	r.workflow = ".github/workflows/autoloop-validate.yml"
	runs = append(runs, r.trigger("issues", map[string]any{
		"action": "opened", "issue": map[string]any{
			"number": 1, "title": evil, "body": body,
			"labels": []any{map[string]any{"name": "autoloop-program"}, map[string]any{"name": evil}},
		},
	}))
	require.Zero(t, runs[4].code, runs[4])

	assert.NoFileExists(t, trap)
	for _, run := range runs {
		// what is wrong with program q has its text
		run.obeyed(t, "::error file=.autoloop/programs/q.md,line=5,title=Autoloop")
	}
	// It was an iteration as any other.
	name := strings.TrimPrefix(r.branches()[0], "autoloop/")
	assert.Equal(t, []string{"autoloop/" + name}, r.branches())
	assert.Equal(t, was, r.run(r.bare, "git", "rev-parse", branch))
	assert.Equal(t, "8", r.run(r.bare, "git", "show", "autoloop/"+name+":value.txt"))
	assert.Equal(t, r.run(r.bare, "git", "rev-parse", "main"), head(t, r.bare, "main"))
	for _, branch := range []string{"autoloop/" + name, "memory/autoloop"} {
		assert.NotContains(t, r.run(r.bare, "git", "log", "-p", branch), hubToken)
	}
	r.Change(func(s *githubtest.State) {
		require.Len(t, s.Pulls, 1)
		assert.Equal(t, evil, s.Issue(1).Title)
		assert.Equal(t, body, s.Issue(1).Body)
		for _, c := range s.Comments {
			assert.NotContains(t, c.Body, hubToken)
		}
		for _, issue := range s.Issues {
			assert.NotContains(t, issue.Body, hubToken)
			assert.False(t, issue.Number == 2 && len(s.On(2)) > 0 && strings.Contains(s.On(2)[0].Body, "ITERATION"),
				"a stranger's program ran")
		}
	})
	_, err := os.Stat(filepath.Join(r.dir, "evil"))
	assert.Error(t, err)
}

// obeyed fails when the runner took text of others for a command; the lines of a
// command of ours that says such text are left out.
func (w workflowRun) obeyed(t *testing.T, ours ...string) {
	t.Helper()
	for _, line := range w.lines {
		if slices.ContainsFunc(ours, func(own string) bool { return strings.Contains(line.Msg, own) }) {
			continue
		}
		assert.NotContains(t, line.Arg, "evil", "%s was obeyed: %s", line.Command, line.Msg)
		assert.NotEqual(t, "add-mask", line.Command)
		assert.NotContains(t, line.KVPairs["file"], "evil")
	}
}

// branches are the branches of programs on GitHub that are well named.
func (r *runner) branches() []string {
	var found []string
	for _, name := range strings.Fields(r.run(r.bare, "git", "for-each-ref", "--format=%(refname:short)",
		"refs/heads/autoloop")) {
		if !strings.ContainsAny(name, "$`") {
			found = append(found, name)
		}
	}
	return found
}
