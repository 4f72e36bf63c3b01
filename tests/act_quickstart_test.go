package tests

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	programstate "github.com/org/autoloop/internal/history/state"
)

// TestActQuickStart does what docs/tutorial/first-program-on-github.md says and nothing else.
func TestActQuickStart(t *testing.T) {
	t.Parallel()
	blocks := docBlocks(readText(t, "../docs/tutorial/first-program-on-github.md"))
	require.Len(t, blocks, 6, "each is done below")
	r := newRunner(t)
	require.NoError(t, os.RemoveAll(r.bare))
	r.run("", "git", "init", "--quiet", "--bare", "--initial-branch=main", r.bare)
	r.Change(func(s *githubtest.State) { s.NoPulls = true })
	at, do := r.user()
	do(at, blocks[0].text+blocks[1].text+blocks[2].text+blocks[3].text)
	r.dir = filepath.Join(at, "my-loop")

	issue := r.site.look().Issue(1)
	r.workflow = ".github/workflows/autoloop-validate.yml"
	r.trigger("issues", map[string]any{"action": "opened", "issue": map[string]any{
		"number": 1, "title": issue.Title, "body": issue.Body, "labels": []any{map[string]any{"name": issue.Labels[0]}},
	}})
	said := r.site.look().On(1)
	require.Len(t, said, 1, "a comment says what it will do")
	assert.Contains(t, said[0].Body, "may change  fit.conf")

	do(r.dir, blocks[4].text)
	assert.Equal(t, []string{"autoloop.yml program=fit"}, r.started)
	r.workflow = ".github/workflows/autoloop.yml"
	r.trigger("workflow_dispatch", dispatched("fit"))
	seen := do(r.dir, blocks[5].text)
	for _, shown := range []string{"[Autoloop: fit]", "| Best Metric |", "\n+width = "} {
		assert.Contains(t, seen, shown)
	}
	machine, _, err := programstate.ParseMachine([]byte(r.remembered("fit.md")))
	require.NoError(t, err)
	require.NotNil(t, machine.BestMetric)
	assert.Less(t, machine.BestMetric.Float64(), machine.InitialMetric.Float64(), "the draft has a better number")
	pulls := r.site.look().Pulls
	require.Len(t, pulls, 1)
	assert.True(t, pulls[0].Draft)

	// The workflow of one step, which the README has, in the same repository.
	own := slices.DeleteFunc(docBlocks(readText(t, "../README.md")),
		func(b docBlock) bool { return !strings.HasPrefix(b.text, "name: ") })
	require.Len(t, own, 1)
	r.write(".github/workflows/improve.yml", own[0].text)
	r.workflow = ".github/workflows/improve.yml"
	r.trigger("workflow_dispatch", dispatched("fit"))
	assert.Contains(t, r.remembered("fit.md"), "| Iteration Count | 2 |")
}

// user is somebody at a machine of their own, who may push, has gh, and can fetch this module
// as the version v1.0.0. They type lines in a directory and see what these print.
func (r *runner) user() (at string, do func(dir, lines string) string) {
	t := r.t
	t.Helper()
	at = filepath.Join(r.side, "user")
	ours := filepath.Join(at, "autoloop")
	require.NoError(t, os.MkdirAll(ours, 0o755))
	copyTracked(t, []string{".", ":!tests", ":!tools", ":!programs"}, ours)
	for _, args := range [][]string{
		{"init", "--quiet"}, {"add", "--all"}, {"commit", "--quiet", "-m", "1"}, {"tag", "v1.0.0"},
	} {
		r.run(ours, append([]string{"git"}, args...)...)
	}
	gh, err := filepath.Abs("act/gh")
	require.NoError(t, err)
	bin, own := filepath.Join(at, "bin"), goEnvironment(t)
	env := slices.Concat(r.env, own, []string{
		"PATH=" + strings.Join([]string{bin, gh, os.Getenv("PATH")}, string(os.PathListSeparator)),
		own[len(own)-1] + ",direct", "GOFLAGS=-trimpath -modcacherw -buildvcs=false", "CGO_ENABLED=0",
		"GOBIN=" + bin, "GOMODCACHE=" + filepath.Join(at, "mod"), "GH_SERVER=" + r.url,
		"GITHUB_TOKEN=", "GITHUB_REPOSITORY=", "GITHUB_API_URL=", "GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=http." + r.url + "/.extraHeader",
		"GIT_CONFIG_VALUE_0=Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("alice:"+hubToken)),
		"GIT_CONFIG_KEY_1=url." + ours + ".insteadOf", "GIT_CONFIG_VALUE_1=https://github.com/org/autoloop",
	})
	return at, func(dir, lines string) string {
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", lines)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", lines, out)
		return string(out)
	}
}

// cli does what the stand-in for gh is asked for, as alice.
func (r *runner) cli(w http.ResponseWriter, q *http.Request) {
	text, _ := base64.StdEncoding.DecodeString(q.Header.Get("Arguments"))
	args := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
	input, _ := io.ReadAll(q.Body)
	option := func(flag string) string { return append(args, "")[min(slices.Index(args, flag)+1, len(args))] }
	r.Change(func(s *githubtest.State) {
		switch line := strings.Join(args, " "); {
		case strings.HasPrefix(line, "label create "):
			s.Labels = append(s.Labels, args[2])
		case strings.HasPrefix(line, "api --method PUT repos/{owner}/{repo}/actions/permissions/workflow "):
			s.NoPulls = !slices.Contains(args, "can_approve_pull_request_reviews=true")
		case strings.HasPrefix(line, "issue create ") && slices.Contains(s.Labels, option("--label")) &&
			option("--body-file") == "-":
			issue := s.OpenIssue("alice", option("--title"), string(input), time.Now(), option("--label"))
			_, _ = fmt.Fprintln(w, issue.Number)
		case strings.HasPrefix(line, "workflow run "):
			r.started = append(r.started, args[2]+" "+option("-f"))
		case strings.HasPrefix(line, "pr list "):
			for _, p := range s.Pulls {
				if p.Head == option("--head") {
					_, _ = fmt.Fprintln(w, p.Number, s.Issue(p.Number).Title)
				}
			}
		default:
			http.Error(w, "gh "+line+" has no stand-in", http.StatusBadRequest)
		}
	})
}
