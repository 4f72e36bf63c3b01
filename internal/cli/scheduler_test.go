package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/cli"
)

// desk is a directory with programs and states, outside of any repository.
type desk struct {
	t         *testing.T
	root, dir string
	vars      map[string]string
	sleep     func(context.Context, time.Duration) error
	terminal  bool
}

// answer is what one run of scheduler did.
type answer struct {
	code        int
	out, errors string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return &desk{t: t, root: t.TempDir(), dir: t.TempDir(), vars: map[string]string{}}
}

// repository makes the directory a git repository.
func (d *desk) repository() *desk {
	d.t.Helper()
	require.NoError(d.t, exec.CommandContext(d.t.Context(), "git", "init", "--quiet", d.root).Run())
	return d
}

func (d *desk) write(file, text string) {
	d.t.Helper()
	require.NoError(d.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(d.t, os.WriteFile(file, []byte(text), 0o600))
}

func (d *desk) program(name, front string) {
	d.write(filepath.Join(d.root, ".autoloop/programs", name+".md"),
		"---\n"+front+"\n---\n## Goal\nFast.\n## Target\n`a.go`\n## Evaluation\n```sh\necho 1\n```\n")
}

func (d *desk) stateFile(name string) string {
	return filepath.Join(d.dir, "repo-memory/autoloop", name+".md")
}

func (d *desk) state(name, rows string) {
	d.write(d.stateFile(name), "## Machine State\n\n| Field | Value |\n|---|---|\n"+rows)
}

func (d *desk) run(args ...string) answer {
	d.t.Helper()
	return d.command(cli.Scheduler, args...)
}

func (d *desk) iterate(args ...string) answer {
	d.t.Helper()
	return d.command(cli.Iterate(nil, ""), args...)
}

func (d *desk) command(main func(context.Context, cli.Env) int, args ...string) answer {
	d.t.Helper()
	var out, errors bytes.Buffer
	env := cli.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errors, Dir: d.root,
		Getenv:  func(name string) string { return d.vars[name] },
		Environ: append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(d.root)),
		Now:     func() time.Time { return time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC) },
		Sleep:   d.sleep, Terminal: d.terminal,
	}
	d.vars["AUTOLOOP_DIR"] = d.dir
	code := main(context.Background(), env)
	return answer{code, out.String(), errors.String()}
}

func (d *desk) plan() map[string]any {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, "autoloop.json"))
	require.NoError(d.t, err)
	var plan map[string]any
	require.NoError(d.t, json.Unmarshal(data, &plan))
	return plan
}

const hourAgo, monthAgo = "| Last Run | 2026-03-04T11:00:00Z |\n", "| Last Run | 2026-02-04T11:00:00Z |\n"

func TestSelectSaysWhatAndWhy(t *testing.T) {
	d := newDesk(t)
	d.program("fast", "schedule: hourly\ntarget-metric: 0.5\nmetric_direction: lower")
	d.program("slow", "schedule: daily")
	d.program("rest", "schedule: daily")
	d.program("bad", "schedule: sometimes")
	d.state("fast", monthAgo+"| PR | #9 |\n")
	d.state("slow", hourAgo)
	d.state("rest", "| Paused | true |\n| Pause Reason | holidays |\n")
	d.vars["GITHUB_OUTPUT"], d.vars["GITHUB_STEP_SUMMARY"] = filepath.Join(d.dir, "out"),
		filepath.Join(d.dir, "summary")
	a := d.run()
	assert.Equal(t, 0, a.code, a.errors)
	assert.Equal(t, "selected: fast (it is 28d0h late)\n"+
		"skipped: rest: paused: holidays; go on with `iterate resume rest`\n"+
		"skipped: slow: not due yet (in 23h)\n", a.out[:strings.Index(a.out, "error:")])
	assert.Contains(t, a.out, "error: bad: .autoloop/programs/bad.md:2: ")
	plan := d.plan()
	assert.Equal(t, "fast", plan["selected"])
	assert.InDelta(t, 0.5, plan["selected_target_metric"], 0)
	assert.InDelta(t, 9, plan["existing_pr"], 0)
	outputs, err := os.ReadFile(d.vars["GITHUB_OUTPUT"])
	require.NoError(t, err)
	assert.Equal(t, "has-work=true\nselected=fast\nmatrix={\"program\":[\"fast\"]}\npr-number=9\nissue-number=\n"+
		"report="+filepath.Join(d.dir, "autoloop.json")+"\n", string(outputs))
	summary, err := os.ReadFile(d.vars["GITHUB_STEP_SUMMARY"])
	require.NoError(t, err)
	assert.Contains(t, string(summary), "Selected **fast**")
	assert.Contains(t, string(summary), "| slow | not due yet |")
}

func TestUnreadableStateIsProgramsError(t *testing.T) {
	d := newDesk(t)
	d.program("good", "schedule: hourly")
	d.program("odd", "schedule: hourly")
	d.state("good", monthAgo)
	require.NoError(t, os.MkdirAll(d.stateFile("odd"), 0o755))
	a := d.run()
	assert.Equal(t, 0, a.code, a.errors)
	assert.Contains(t, a.out, "selected: good")
	assert.Contains(t, a.out, "error: odd: odd.md: ")
	assert.Equal(t, 2, d.run("--program", "odd").code)
}

func TestForcedFromOutside(t *testing.T) {
	d := newDesk(t)
	d.program("speed", "schedule: weekly")
	d.state("speed", hourAgo)
	a := d.run("--program", "sped")
	assert.Equal(t, 2, a.code)
	assert.Equal(t, "scheduler: there is no program \"sped\"; did you mean \"speed\"?\n", a.errors)
	assert.Nil(t, d.plan()["selected"], "written all the same")
	d.vars["AUTOLOOP_PROGRAM"] = " speed "
	assert.Contains(t, d.run().out, "selected: speed")
	delete(d.vars, "AUTOLOOP_PROGRAM")
	assert.Contains(t, d.run().out, "nothing is due")
	d.vars["GITHUB_EVENT_NAME"], d.vars["GITHUB_EVENT_PATH"] = "workflow_dispatch", filepath.Join(d.dir, "event.json")
	d.write(d.vars["GITHUB_EVENT_PATH"], `{"inputs":{"program":"speed"}}`)
	assert.Contains(t, d.run().out, "selected: speed")
}

// TestBranchThatIsNotDefault: its programs do not go on with the records of those that
// people agreed on.
func TestBranchThatIsNotDefault(t *testing.T) {
	d := newDesk(t).repository()
	d.program("speed", "schedule: hourly")
	d.vars["GITHUB_ACTIONS"], d.vars["GITHUB_WORKFLOW_REF"] = "true",
		"o/r/.github/workflows/loop.yml@refs/heads/feature"
	d.vars["GITHUB_EVENT_NAME"], d.vars["GITHUB_EVENT_PATH"] = "workflow_dispatch", filepath.Join(d.dir, "event.json")
	d.write(d.vars["GITHUB_EVENT_PATH"], `{"repository":{"default_branch":"main"}}`)
	d.vars["GITHUB_REF_NAME"] = "feature"
	const says = "this run was started on \"feature\", and programs come from main: start it there, with `gh " +
		"workflow run loop.yml --ref main`\n"
	for command, got := range map[string]answer{
		"scheduler": d.run(), "iterate": d.iterate("--program", "speed"),
		"begin": d.iterate("job", "begin", "--program", "speed"),
	} {
		assert.Equal(t, 2, got.code, command)
		assert.Contains(t, got.errors, says, command)
	}
	assert.Zero(t, d.run("--compat").code, "the original asks for no branch")
	assert.Zero(t, d.iterate("status").code)
	d.vars["GITHUB_EVENT_NAME"] = "schedule"
	assert.Zero(t, d.run().code)
	d.vars["GITHUB_EVENT_NAME"], d.vars["GITHUB_REF_NAME"] = "workflow_dispatch", "main"
	assert.Zero(t, d.run().code)
}

func TestStatusNeverCutsAReason(t *testing.T) {
	d := newDesk(t)
	reason := strings.TrimSpace(strings.Repeat("long reason ", 30))
	d.program("p", "schedule: daily")
	d.state("p", "| Paused | true |\n| Pause Reason | "+reason+" |\n")
	a := d.iterate("status")
	assert.Contains(t, a.out, reason)
	assert.Contains(t, a.out, "a program is due from 5 minutes before its time\n")
	d.terminal = true
	a = d.iterate("status")
	assert.Equal(t, 30, strings.Count(a.out, "long"), "nothing is lost")
	for _, line := range strings.Split(a.out, "\n") {
		assert.Less(t, len([]rune(line)), 200)
	}
}
