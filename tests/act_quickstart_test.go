package tests

import (
	"archive/zip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	text := readText(t, "../docs/tutorial/first-program-on-github.md")
	blocks := docBlocks(text)
	require.Len(t, blocks, 6, "each is done below")
	r := newRunner(t, nil, split...)
	r.archives = wholeRelease
	require.NoError(t, os.RemoveAll(r.bare))
	r.run("", "git", "init", "--quiet", "--bare", "--initial-branch=main", r.bare)
	r.run("", "git", "--git-dir", r.bare, "config", "http.receivepack", "true")
	r.Change(func(s *githubtest.State) { s.NoPulls = true })
	user := r.user()
	user.do(blocks[0].text + blocks[1].text + blocks[2].text + blocks[3].text)
	r.dir = user.dir()

	issue := r.issue(1)
	r.workflow = ".github/workflows/autoloop-validate.yml"
	run := r.trigger("issues", map[string]any{"action": "opened", "issue": map[string]any{
		"number": 1, "title": issue.Title, "body": issue.Body, "labels": []any{map[string]any{"name": issue.Labels[0]}},
	}})
	require.Zero(t, run.code, run)
	r.Change(func(s *githubtest.State) {
		require.Len(t, s.On(1), 1, "a comment says what it will do")
		assert.Contains(t, s.On(1)[0].Body, "may change  fit.conf")
	})

	user.do(blocks[4].text)
	assert.Equal(t, []string{"autoloop.yml program=fit"}, r.started)
	r.workflow = ".github/workflows/autoloop.yml"
	run = r.trigger("workflow_dispatch", dispatched("fit"))
	require.Zero(t, run.code, run)
	seen := user.do(blocks[5].text)
	assert.Contains(t, seen, "[Autoloop: fit]")
	assert.Contains(t, seen, "| Best Metric |")
	assert.Contains(t, seen, "\n+width = ")
	machine, _, err := programstate.ParseMachine([]byte(r.remembered("fit.md")))
	require.NoError(t, err)
	require.NotNil(t, machine.BestMetric)
	assert.Less(t, machine.BestMetric.Float64(), machine.InitialMetric.Float64(), "the draft has a better number")
	r.Change(func(s *githubtest.State) {
		require.Len(t, s.Pulls, 1)
		assert.True(t, s.Pulls[0].Draft)
	})

	// The workflow of one step, which the README has, in the same repository.
	readme := readText(t, "../README.md")
	own := slices.DeleteFunc(docBlocks(readme), func(b docBlock) bool { return !strings.HasPrefix(b.text, "name: ") })
	require.Len(t, own, 1)
	require.NoError(t, os.WriteFile(filepath.Join(r.dir, ".github", "workflows", "improve.yml"),
		[]byte(own[0].text), 0o600))
	r.workflow = ".github/workflows/improve.yml"
	run = r.trigger("workflow_dispatch", dispatched("fit"))
	require.Zero(t, run.code, run)
	assert.Contains(t, r.remembered("fit.md"), "| Iteration Count | 2 |")
}

// person is somebody at a machine of their own, who types commands.
type person struct {
	r   *runner
	env []string
	at  string
}

// do types lines one after the other, and returns what they print. The shell's
// directory is that of the lines before.
func (p *person) do(lines string) string {
	t := p.r.t
	t.Helper()
	where := filepath.Join(p.at, "where")
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c",
		`cd "$(cat "$WHERE")"; `+lines+"\npwd >\"$WHERE\"")
	cmd.Env = append(slices.Clone(p.env), "WHERE="+where)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", lines, out)
	return string(out)
}

// dir is where they are.
func (p *person) dir() string {
	p.r.t.Helper()
	where, err := os.ReadFile(filepath.Join(p.at, "where"))
	require.NoError(p.r.t, err)
	return strings.TrimSpace(string(where))
}

// user is a person who can fetch this module as the version v1.0.0, may push,
// and has gh.
func (r *runner) user() *person {
	t := r.t
	t.Helper()
	at := filepath.Join(r.side, "user")
	versions := filepath.Join(at, "proxy", "github.com", "org", "autoloop", "@v")
	require.NoError(t, os.MkdirAll(versions, 0o755))
	own, err := ownTree()
	require.NoError(t, err)
	module := readText(t, filepath.Join(own, "go.mod"))
	for name, text := range map[string]string{
		"list": "v1.0.0\n", "v1.0.0.info": `{"Version": "v1.0.0", "Time": "2026-01-01T00:00:00Z"}`,
		"v1.0.0.mod": module,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(versions, name), []byte(text), 0o600))
	}
	require.NoError(t, zipModule(filepath.Join(versions, "v1.0.0.zip"), own, "github.com/org/autoloop@v1.0.0"))
	require.NoError(t, os.WriteFile(filepath.Join(at, "where"), []byte(at), 0o600))
	gh, err := filepath.Abs("act/gh")
	require.NoError(t, err)
	bin := filepath.Join(at, "bin")
	base, err := goEnvironment()
	require.NoError(t, err)
	env := append(slices.Clone(r.env), base...)
	return &person{r, append(env,
		"PATH="+strings.Join([]string{bin, gh, os.Getenv("PATH")}, string(os.PathListSeparator)),
		"GOPROXY=file://"+filepath.ToSlash(filepath.Join(at, "proxy"))+","+goProxy(base),
		"GOFLAGS=-trimpath -modcacherw",
		"CGO_ENABLED=0",
		"GOBIN="+bin, "GOMODCACHE="+filepath.Join(at, "mod"), "GH_SERVER="+r.url, "GIT_CONFIG_COUNT=1",
		"GITHUB_TOKEN=", "GITHUB_REPOSITORY=", "GITHUB_API_URL=", "GIT_CONFIG_KEY_0=http."+r.url+"/.extraHeader",
		"GIT_CONFIG_VALUE_0=Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte("alice:"+hubToken)),
	), at}
}

// goProxy is where Go's environment fetches modules from.
func goProxy(env []string) string {
	for _, variable := range env {
		if value, found := strings.CutPrefix(variable, "GOPROXY="); found {
			return value
		}
	}
	return "off"
}

// cli does what the stand-in for gh is asked for, as alice.
func (r *runner) cli(w http.ResponseWriter, q *http.Request) {
	text, err := base64.StdEncoding.DecodeString(q.Header.Get("Arguments"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	args := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
	input, _ := io.ReadAll(q.Body)
	r.Change(func(s *githubtest.State) {
		switch line := strings.Join(args, " "); {
		case strings.HasPrefix(line, "label create "):
			s.Labels = append(s.Labels, args[2])
		case strings.HasPrefix(line, "api --method PUT repos/{owner}/{repo}/actions/permissions/workflow "):
			s.NoPulls = !slices.Contains(args, "can_approve_pull_request_reviews=true")
		case strings.HasPrefix(line, "issue create ") && slices.Contains(s.Labels, option(args, "--label")) &&
			option(args,
				"--body-file") == "-":
			issue := s.OpenIssue("alice", option(args, "--title"), string(input), time.Now(), option(args, "--label"))
			_, _ = fmt.Fprintln(w, issue.Number)
		case strings.HasPrefix(line, "workflow run "):
			r.started = append(r.started, args[2]+" "+option(args, "-f"))
		case strings.HasPrefix(line, "pr list "):
			for _, p := range s.Pulls {
				if p.Head == option(args, "--head") {
					_, _ = fmt.Fprintln(w, p.Number, s.Issue(p.Number).Title)
				}
			}
		default:
			http.Error(w, "gh "+line+" has no stand-in", http.StatusBadRequest)
		}
	})
}

// option is the argument after a flag, "" without one.
func option(args []string, flag string) string {
	if at := slices.Index(args, flag); at >= 0 && at+1 < len(args) {
		return args[at+1]
	}
	return ""
}

// issue is a copy of an issue as it is now.
func (r *runner) issue(number int) githubtest.Issue {
	r.t.Helper()
	var found githubtest.Issue
	r.Change(func(s *githubtest.State) {
		require.NotNil(r.t, s.Issue(number))
		found = *s.Issue(number)
	})
	return found
}

// zipModule packs a tree as the archive of a version of a module: of files alone, without the
// modules in it.
func zipModule(file, tree, prefix string) error {
	out, err := os.Create(file) //nolint:gosec // In the directory of the test.
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	archive := zip.NewWriter(out)
	err = filepath.WalkDir(tree, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if _, other := os.Stat(filepath.Join(path, "go.mod")); other == nil && path != tree {
				return filepath.SkipDir
			}
			return err
		}
		to, err := archive.Create(prefix + filepath.ToSlash(strings.TrimPrefix(path, tree)))
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path) //nolint:gosec // The files of this repository.
		if err != nil {
			return err
		}
		_, err = to.Write(data)
		return err
	})
	return errors.Join(err, archive.Close(), out.Close())
}
