package tests

import (
	"bufio"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

// runner runs the workflows of a repository on GitHub with act, on this machine.
type runner struct {
	*hub
	// url is where API, git and releases are served; artifacts is where the stand-ins keep
	// what they are given.
	url, artifacts string
	// workflow is the one that events start.
	workflow string
	// released is what org/autoloop@v1 is.
	released string
	// secrets are those of the repository; tokens says of each token whether it may write.
	secrets map[string]string
	tokens  map[string]bool
	runs    int

	mu       sync.Mutex
	requests []request
	// started are the workflows that a person started by hand.
	started []string
}

// newRunner makes a repository with the workflows of a job that proposes and one that
// publishes, on GitHub and cloned.
func newRunner(t *testing.T) *runner {
	t.Helper()
	long.Only(t, long.Act)
	files := map[string]string{"value.txt": "10\n"}
	for _, name := range []string{"autoloop.yml", "autoloop-iterate.yml"} {
		files[".github/workflows/"+name] = workflowText(t, name)
	}
	r := &runner{
		hub: newHub(t, files), workflow: ".github/workflows/autoloop.yml",
		secrets: map[string]string{"GITHUB_TOKEN": hubToken}, tokens: map[string]bool{hubToken: true},
	}
	r.artifacts, r.released = filepath.Join(r.side, "artifacts"), filepath.Join(r.side, "released")
	r.run("", "mkdir", "-p", r.artifacts, filepath.Join(r.side, "cache"))
	// What the action reads of a release, and no source, which act would copy for every step.
	r.run("", "sh", "-c", `mkdir "$0" && cp -R ../action.yml ../workflows "$0" &&
sed '0,/^## .*/s//## [1.0.0] - 2026-01-01/' ../CHANGELOG.md > "$0/CHANGELOG.md"`, r.released)
	r.serve()
	return r
}

// request is one that the servers got.
type request struct {
	method, path, token string
	write               bool
	// uploaded is how many artifacts of the run there were.
	uploaded int
}

// serve puts API, git and releases behind one address, as an installation of
// GitHub Enterprise Server does.
func (r *runner) serve() {
	t := r.t
	t.Helper()
	root := filepath.Join(r.side, "served")
	bare := filepath.Join(root, "org", "repo")
	require.NoError(t, os.MkdirAll(filepath.Dir(bare), 0o755))
	require.NoError(t, os.Rename(r.bare, bare))
	r.bare = bare
	api, err := url.Parse(r.URL)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(q *httputil.ProxyRequest) {
		q.SetURL(api)
		q.Out.Header.Set("Authorization", "Bearer "+hubToken)
	}}
	mux := http.NewServeMux()
	mux.Handle("/api/v3/", http.StripPrefix("/api/v3", r.guard(proxy, func(q *http.Request) (string, bool) {
		return strings.TrimPrefix(q.Header.Get("Authorization"), "Bearer "), q.Method != http.MethodGet
	})))
	mux.Handle("/org/repo/", r.guard(gitBackend(t, "", root), func(q *http.Request) (string, bool) {
		_, password, _ := q.BasicAuth()
		return password, strings.Contains(q.URL.RequestURI(), "git-receive-pack")
	}))
	release := newReleases(t)
	release.release("1.0.0", archive(t))
	mux.Handle("/org/autoloop/releases/", release)
	mux.HandleFunc("POST /gh", r.cli)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	r.url = server.URL
	r.git("remote", "set-url", "origin", r.url+"/org/repo")
}

// guard lets in who has a token that may do it, and notes the requests of those.
func (r *runner) guard(next http.Handler, asks func(*http.Request) (token string, write bool)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		token, write := asks(q)
		r.mu.Lock()
		mayWrite, known := r.tokens[token]
		r.requests = append(r.requests, request{q.Method, q.URL.RequestURI(), token, write, len(r.uploads())})
		r.mu.Unlock()
		switch {
		case !known:
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
			http.Error(w, `{"message": "Bad credentials"}`, http.StatusUnauthorized)
		case write && !mayWrite:
			http.Error(w, `{"message": "Resource not accessible by integration"}`, http.StatusForbidden)
		default:
			next.ServeHTTP(w, q)
		}
	})
}

// seen returns the requests since the last time that it was asked, and those of them that
// were to change something.
func (r *runner) seen() (all, wrote []request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, r.requests = r.requests, nil
	return all, slices.DeleteFunc(slices.Clone(all), func(q request) bool { return !q.write })
}

// uploads lists the artifacts of the run that is under way.
func (r *runner) uploads() (names []string) {
	entries, _ := os.ReadDir(filepath.Join(r.artifacts, strconv.Itoa(r.runs)))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// actLine is a line that act prints.
type actLine struct {
	Msg, Job, Command, Arg, JobResult string
	KVPairs                           map[string]string `json:"kvPairs"`
}

// workflowRun is a run of a workflow that came to its end.
type workflowRun struct {
	lines []actLine
	// results are the results of the jobs that ran.
	results map[string]string
}

// actionStandIns are the directories that act gets for the actions of others
// that the workflows and the action use, by OWNER/NAME@REF.
func actionStandIns(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../workflows/*.yml")
	require.NoError(t, err)
	uses := regexp.MustCompile(`uses: *(actions/([a-z-]+))(/[a-z-]+)?(@\S+)`)
	stands := map[string]string{}
	for _, file := range append(files, "../action.yml") {
		for _, m := range uses.FindAllStringSubmatch(readText(t, file), -1) {
			dir, err := filepath.Abs(filepath.Join("act", m[2]))
			require.NoError(t, err)
			require.FileExists(t, filepath.Join(dir, m[3], "action.yml"), "%s has no stand-in", m[0])
			stands[m[1]+m[4]] = dir
		}
	}
	return stands
}

// trigger runs the workflow for an event to its end, which has to be a good one, and looks
// for tokens in what it printed.
func (r *runner) trigger(event string, payload map[string]any) workflowRun {
	t := r.t
	t.Helper()
	// Act copies the clone for checkouts: it is brought to what is on GitHub.
	r.git("fetch", "--quiet", "--prune", r.bare, "+refs/heads/*:refs/remotes/origin/*")
	r.git("merge", "--quiet", "--ff-only", "origin/main")
	r.runs++
	id := strconv.Itoa(r.runs)
	dir := filepath.Join(r.side, "run-"+id)
	all := map[string]any{"repository": map[string]any{
		"full_name": "org/repo", "name": "repo", "default_branch": "main", "owner": map[string]any{"login": "org"},
		"fork": false,
	}}
	maps.Copy(all, payload)
	// Act hands its own environment on to the steps, so the token is in a file.
	secrets := ""
	for name, value := range r.secrets {
		secrets += name + "=" + value + "\n"
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "tmp"), 0o755))
	for name, text := range map[string]string{"event.json": asJSON(t, all), "secrets": secrets} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	args := []string{
		event, "--json", "-W", r.workflow, "-P", "ubuntu-latest=-self-hosted", "-e", filepath.Join(dir, "event.json"),
		"--secret-file", filepath.Join(dir, "secrets"), "--env-file", "", "--input-file", "", "--var-file", "",
		"--action-cache-path", filepath.Join(dir, "actions"), "--no-cache-server", "--actor", "alice", "--rm",
	}
	for _, variable := range []string{
		"GITHUB_API_URL=" + r.url + "/api/v3", "GITHUB_SERVER_URL=" + r.url, "GITHUB_REPOSITORY=org/repo",
		"GITHUB_RUN_ID=" + id, "ACT_ARTIFACTS=" + r.artifacts, "ACT_CACHE=" + filepath.Join(r.side, "cache"),
		"TRAP=" + filepath.Join(r.side, "trap"),
	} {
		args = append(args, "--env", variable)
	}
	local := actionStandIns(t)
	local["org/autoloop@v1"] = r.released
	local["org/autoloop@v1.0.0"] = r.released // the release that init pins
	for uses, stand := range local {
		args = append(args, "--local-repository", uses+"="+stand)
	}
	act, err := exec.LookPath("act")
	require.NoError(t, err, "go -C tools/act build -o DIR tool, with DIR in the PATH")
	cmd := exec.CommandContext(t.Context(), act, args...)
	cmd.Dir = r.dir
	cmd.Env = append(goEnvironment(t), "HOME="+dir, "TMPDIR="+filepath.Join(dir, "tmp"))
	out, err := cmd.CombinedOutput()
	log := string(out)
	require.NoError(t, err, log)
	for token := range r.tokens {
		require.NotContains(t, log, token)
	}
	run := workflowRun{results: map[string]string{}}
	lines := bufio.NewScanner(strings.NewReader(log))
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		var line actLine
		if json.Unmarshal(lines.Bytes(), &line) == nil {
			run.lines = append(run.lines, line)
		}
		if line.JobResult != "" && line.JobResult != "skipped" {
			run.results[strings.TrimSpace(line.Job)] = line.JobResult
		}
	}
	require.NoError(t, lines.Err())
	return run
}

// goEnvironment is PATH, and what Go needs to build without the network.
func goEnvironment(t testing.TB) []string {
	t.Helper()
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	return []string{
		"PATH=" + os.Getenv("PATH"), "GOCACHE=" + strings.TrimSpace(string(cache)), "GOSUMDB=off",
		"GOPROXY=file://" + filepath.ToSlash(moduleCache(t)),
	}
}

// countdown is a program whose agent makes the number one smaller each time.
const countdown = `---
metric: m
metric_direction: lower
evaluation-runs: 1
schedule: every 6h
agent: command
agent-command: echo $(( $(cat value.txt) - 1 )) > value.txt && echo "one less"
---
## Goal
Move the number.
## Target
- ` + "`value.txt`" + `
## Evaluation
` + "```sh" + `
printf '{"m": %s}\n' "$(cat value.txt)"
` + "```" + `
`

// everyHour is the event of a schedule.
var everyHour = map[string]any{"schedule": "17 * * * *"}

// dispatched is the event of a start by hand.
func dispatched(program string) map[string]any {
	return map[string]any{"inputs": map[string]any{"program": program}}
}

func TestActProposesAndPublishesApart(t *testing.T) {
	t.Parallel()
	const strongToken = "ghp_9876543210fedcbaSECRET"
	r := newRunner(t)
	r.program(countdown)
	r.tokens, r.secrets["AUTOLOOP_TOKEN"] = map[string]bool{hubToken: false, strongToken: true}, strongToken
	had := map[string]bool{} // the jobs in whose environment the token was
	stop := watchProcesses("environ", func(text string) {
		if _, job, of := strings.Cut(text, "\x00GITHUB_JOB="); of && strings.Contains(text, strongToken) {
			job, _, _ = strings.Cut(job, "\x00")
			had[job] = true
		}
	})
	r.trigger("schedule", everyHour)
	stop()
	assert.Equal(t, "9", r.run(r.bare, "git", "show", "autoloop/p:value.txt"))
	assert.NotZero(t, r.openPull())
	assert.ElementsMatch(t, []string{"autoloop-bundle-p", "autoloop-transcripts-p"}, r.uploads())
	r.writesAfterTheStart(strongToken)
	assert.Subset(t, []string{"schedule", "publish"}, slices.Collect(maps.Keys(had)),
		"a job that runs code of programs had the token")

	// With the workflow's token alone, whose rights a job limits.
	delete(r.secrets, "AUTOLOOP_TOKEN")
	r.tokens = map[string]bool{hubToken: true}
	r.trigger("workflow_dispatch", dispatched("p"))
	assert.Equal(t, "8", r.run(r.bare, "git", "show", "autoloop/p:value.txt"))
	r.writesAfterTheStart(hubToken)
	assert.Len(t, r.site.look().Pulls, 1)

	run := r.trigger("schedule", everyHour)
	assert.Equal(t, map[string]string{"Autoloop/schedule": "success"}, run.results, "nothing is due")
	_, wrote := r.seen()
	assert.Empty(t, wrote)
}

// writesAfterTheStart holds that nothing was written before the proposal was
// handed on, but for the push of the start.
func (r *runner) writesAfterTheStart(token string) {
	r.t.Helper()
	_, all := r.seen()
	require.Greater(r.t, len(all), 4)
	for i, q := range all {
		assert.Equal(r.t, token, q.token, "%s %s", q.method, q.path)
		if i < 2 {
			assert.Zero(r.t, q.uploaded)
			assert.Contains(r.t, q.path, "git-receive-pack", "the start")
			continue
		}
		assert.Equal(r.t, 2, q.uploaded, "%s %s before the proposal was handed on", q.method, q.path)
	}
}

// TestActObeysNoPullRequest has a stranger's pull request, with the title, the
// label and the branch of a program of ours or with text that is made to be
// obeyed, take part in everything that starts a workflow. It changes nothing.
func TestActObeysNoPullRequest(t *testing.T) {
	t.Parallel()
	// A branch whose name git takes and no shell should, and text for a shell, a runner and an expression.
	const evilBranch = "autoloop/$(touch${IFS}$TRAP);`touch${IFS}$TRAP`${{github.token}}"
	evil := "x'\"; " + hostileLine("$TRAP") + "\n::set-output name=has-work::evil\n::set-env name=PATH::/evil\n" +
		"::add-mask::value\n::error file=evil.go,line=1::evil\n::add-path::/evil\n" +
		"##[set-output name=selected]evil\n::stop-commands::evil\nselected=evil\n"
	type fields = map[string]any
	r := newRunner(t)
	r.program(countdown)
	r.trigger("schedule", everyHour)
	ours, theirs := r.openPull(), map[int]string{}
	r.Change(func(s *githubtest.State) {
		for title, branch := range map[string]string{evil: evilBranch, "[Autoloop: p]": "autoloop/p"} {
			pull := s.OpenIssue("mallory", title, evil, time.Now(), "autoloop-program", "autoloop")
			s.Pulls = append(s.Pulls, &githubtest.Pull{
				Number:  pull.Number,
				Head:    branch,
				Base:    "main",
				HeadOf:  "mallory/repo",
				HeadSHA: strings.Repeat("0", 40),
			})
			theirs[pull.Number] = title
			s.Say("mallory", pull.Number, "/autoloop "+evil, time.Now())
			s.Say("mallory", pull.Number, "/autoloop pause", time.Now())
		}
		s.Issue(ours).Title = evil // a person's edit: the next gain sets it right
	})
	was, memory := head(t, r.bare, "main"), head(t, r.bare, "memory/autoloop")
	r.seen()
	comment := func(issue int, author, association, text string) fields {
		return fields{
			"action": "created",
			"issue": fields{
				"number": issue, "title": theirs[issue], "body": evil, "pull_request": fields{"url": evil},
				"labels": []any{fields{"name": "autoloop-program"}},
			},
			"comment": fields{"body": text, "author_association": association, "user": fields{"login": author}},
		}
	}
	starts := func(event string, payload fields) map[string]string {
		run := r.trigger(event, payload)
		for _, line := range run.lines {
			assert.NotContains(t, line.Arg, "evil", "%s was obeyed: %s", line.Command, line.Msg)
			assert.NotEqual(t, "add-mask", line.Command)
			assert.NotContains(t, line.KVPairs["file"], "evil")
		}
		return run.results
	}
	for number := range theirs {
		assert.Empty(t, starts("issue_comment", comment(number, "mallory", "NONE", "/autoloop "+evil)),
			"a stranger starts no job")
	}
	assert.Empty(t, starts("workflow_run", fields{"action": "completed", "workflow_run": fields{
		"name": evil, "display_title": evil, "conclusion": "success", "head_branch": evilBranch,
		"head_repository": fields{"full_name": "mallory/repo"}, "head_commit": fields{"message": evil},
	}}), "nor does CI of a fork")
	all, _ := r.seen()
	assert.Empty(t, all)
	for number := range theirs {
		r.site.say("alice", number, "/autoloop run\n"+evil)
		assert.Equal(
			t,
			map[string]string{"Autoloop/steer": "success"},
			starts(
				"issue_comment",
				comment(number, "alice", "OWNER", "/autoloop run\n"+evil),
			),
			"it belongs to no program",
		)
	}
	_, wrote := r.seen()
	assert.Empty(t, wrote)
	assert.Equal(t, memory, head(t, r.bare, "memory/autoloop"))

	starts("check_suite", fields{"action": "completed", "check_suite": fields{ // it has what is due looked at
		"head_branch": evilBranch, "conclusion": "success", "app": fields{"slug": evil}, "pull_requests": []any{fields{
			"number": 7, "title": evil, "body": evil, "user": fields{"login": "mallory"},
			"labels": []any{fields{"name": evil}}, "head": fields{"ref": evilBranch, "label": "mallory:" + evilBranch},
		}},
	}})
	starts("schedule", everyHour)
	assert.Equal(t, ours, r.openPull(), "a fork's pull request is not ours")
	assert.NoFileExists(t, filepath.Join(r.side, "trap"))
	assert.Equal(t, was, head(t, r.bare, "main"))
	for number, title := range theirs {
		issue := r.site.look().Issue(number)
		assert.Equal(t, []any{title, evil, true}, []any{issue.Title, issue.Body, issue.Open})
		assert.Len(t, r.site.look().On(number), 3, "nobody answers on a stranger's pull request")
	}
}
