package tests

import (
	"bufio"
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// runner runs the workflow of a repository on GitHub with act, on this machine.
type runner struct {
	*hub
	act string
	// url is where API, git and releases are served; artifacts and cache are
	// where the stand-ins keep what they are given.
	url, artifacts, cache string
	// workflow is the one that events start.
	workflow string
	// tree is what org/autoloop@v1 is, and each of the forks.
	tree  string
	forks []string
	// archives is where the release is: lightRelease or wholeRelease.
	archives string
	// vars and secrets are those of the repository; tokens says of each token
	// whether it may write.
	vars, secrets map[string]string
	tokens        map[string]bool
	// more are variables of the environment of all steps.
	more []string
	runs int

	mu       sync.Mutex
	requests []request
	// started are the workflows that a person started by hand.
	started []string
	// cut, when set, is called for each request that is allowed, and serves it.
	cut func(q request, serve func())
}

// newRunner makes a repository with these files and workflows, on GitHub and
// cloned. The first of the workflows is the one that events start.
func newRunner(t *testing.T, files map[string]string, workflows ...string) *runner {
	t.Helper()
	long.Only(t, long.Act)
	act, err := exec.LookPath("act")
	require.NoError(t, err, "go -C tools/act build -o DIR tool, with DIR in the PATH")
	tree, err := releasedTree()
	require.NoError(t, err)
	all := map[string]string{}
	for _, name := range workflows {
		text := readText(t, filepath.Join("..", "workflows", name))
		all[".github/workflows/"+name] = text
	}
	maps.Copy(all, files)
	r := &runner{
		hub: newHub(t, all), act: act, tree: tree, archives: lightRelease,
		workflow: ".github/workflows/" + workflows[0],
		vars:     map[string]string{}, secrets: map[string]string{"GITHUB_TOKEN": hubToken},
		tokens: map[string]bool{hubToken: true},
	}
	r.artifacts, r.cache = filepath.Join(r.side, "artifacts"), filepath.Join(r.side, "cache")
	require.NoError(t, os.MkdirAll(r.artifacts, 0o755))
	require.NoError(t, os.MkdirAll(r.cache, 0o755))
	r.serve()
	return r
}

// actLine is a line that act prints.
type actLine struct {
	Level, Msg, Job, JobID, Step, Command, Arg, JobResult string

	Matrix  map[string]any
	KVPairs map[string]string `json:"kvPairs"`
	Raw     bool              `json:"raw_output"`
}

// workflowRun is a run of a workflow that came to its end.
type workflowRun struct {
	code  int
	lines []actLine
	// log is all that was printed.
	log string
}

// results are the results of the jobs that ran.
func (w workflowRun) results() map[string]string {
	results := map[string]string{}
	for _, line := range w.lines {
		if line.JobResult != "" && line.JobResult != "skipped" {
			results[strings.TrimSpace(line.Job)] = line.JobResult
		}
	}
	return results
}

// String is the log for people, without what act says of itself.
func (w workflowRun) String() string {
	var text strings.Builder
	for _, line := range w.lines {
		if line.Raw || line.Level == "error" || line.Command == "error" || line.JobResult != "" {
			text.WriteString(strings.TrimSpace(line.Job) + ": " + strings.TrimSpace(line.Msg) + "\n")
		}
	}
	return text.String()
}

// pull brings the clone, which act copies for checkouts, to what is on GitHub.
func (r *runner) pull() {
	r.t.Helper()
	r.git("fetch", "--quiet", "--prune", r.bare, "+refs/heads/*:refs/remotes/origin/*")
	r.git("merge", "--quiet", "--ff-only", "origin/main")
}

// output keeps what act prints.
type output struct {
	mu   sync.Mutex
	text strings.Builder
	// watch, when set, is called with all that was printed.
	watch func(text string)
}

func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(data)
	if o.watch != nil {
		o.watch(o.text.String())
	}
	return len(data), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start prepares a run of the workflow for an event.
func (r *runner) start(ctx context.Context, event string, payload map[string]any) (*exec.Cmd, *output) {
	t := r.t
	t.Helper()
	r.pull()
	r.mu.Lock()
	r.runs++
	id := strconv.Itoa(r.runs)
	r.mu.Unlock()
	dir := filepath.Join(r.side, "run-"+id)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "home"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "tmp"), 0o755))
	all := map[string]any{"repository": map[string]any{
		"full_name": "org/repo", "name": "repo", "default_branch": "main", "owner": map[string]any{"login": "org"},
		"fork": false,
	}}
	maps.Copy(all, payload)
	data, err := json.Marshal(all)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "event.json"), data, 0o600))
	// Act hands its own environment on to the steps, so the token is in a file.
	var secrets strings.Builder
	for name, value := range r.secrets {
		secrets.WriteString(name + "=" + value + "\n")
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secrets"), []byte(secrets.String()), 0o600))
	args := []string{
		event, "--json", "-W", r.workflow, "-P", "ubuntu-latest=-self-hosted", "-e", filepath.Join(dir, "event.json"),
		"--secret-file", filepath.Join(dir, "secrets"), "--env-file", "", "--input-file", "", "--var-file", "",
		"--action-cache-path", filepath.Join(dir, "actions"), "--no-cache-server", "--actor", "alice", "--rm",
		"--env", "GITHUB_API_URL=" + r.url + "/api/v3", "--env", "GITHUB_SERVER_URL=" + r.url, "--env",
		"GITHUB_REPOSITORY=org/repo",
		"--env", "GITHUB_RUN_ID=" + id, "--env", "ACT_ARTIFACTS=" + r.artifacts, "--env", "ACT_CACHE=" + r.cache,
		"--local-repository", "org/autoloop@v1=" + r.tree, "--local-repository",
		"org/autoloop@v1.0.0=" + r.tree, // the release that init pins
	}
	for _, fork := range r.forks {
		args = append(args, "--local-repository", fork+"="+r.tree)
	}
	for _, variable := range r.more {
		args = append(args, "--env", variable)
	}
	for name, value := range r.vars {
		args = append(args, "--var", name+"="+value)
	}
	for uses, stand := range actionStandIns(t) {
		args = append(args, "--local-repository", uses+"="+stand)
	}
	cmd := exec.CommandContext(ctx, r.act, args...)
	cmd.Dir = r.dir
	cmd.Env = []string{"HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + filepath.Join(dir, "tmp")}
	base, err := goEnvironment()
	require.NoError(t, err)
	cmd.Env = append(cmd.Env, base...)
	out := &output{}
	cmd.Stdout, cmd.Stderr = out, out
	return cmd, out
}

// trigger runs the workflow for an event to its end.
func (r *runner) trigger(event string, payload map[string]any) workflowRun {
	r.t.Helper()
	cmd, out := r.start(r.t.Context(), event, payload)
	_ = cmd.Run()
	return r.ended(cmd, out)
}

// ended reads what a run printed, and looks for tokens in it.
func (r *runner) ended(cmd *exec.Cmd, out *output) workflowRun {
	t := r.t
	t.Helper()
	require.NotNil(t, cmd.ProcessState, out.String())
	run := workflowRun{code: cmd.ProcessState.ExitCode(), log: out.String()}
	lines := bufio.NewScanner(strings.NewReader(run.log))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line actLine
		if json.Unmarshal(lines.Bytes(), &line) == nil {
			run.lines = append(run.lines, line)
		}
	}
	require.NoError(t, lines.Err())
	for token := range r.tokens {
		require.NotContains(t, run.log, token)
	}
	return run
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

// comment is the event of a comment on an issue.
func comment(issue int, author, association, body string) map[string]any {
	return map[string]any{
		"action": "created",
		"issue":  map[string]any{"number": issue, "labels": []any{map[string]any{"name": "autoloop-program"}}},
		"comment": map[string]any{
			"body": body, "author_association": association, "user": map[string]any{"login": author},
		},
	}
}

// finished is the event of a workflow of CI that came to its end.
func finished(repository, branch string) map[string]any {
	return map[string]any{
		"action": "completed",
		"workflow_run": map[string]any{
			"name": "CI", "conclusion": "success", "head_branch": branch,
			"head_repository": map[string]any{"full_name": repository},
		},
	}
}
