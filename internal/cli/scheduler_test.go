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

	"github.com/org/autoloop/internal/actions"
	"github.com/org/autoloop/internal/cli"
)

// directory is a directory with programs and states, outside of any repository.
type directory struct {
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

func newDirectory(t *testing.T) *directory {
	t.Helper()
	return &directory{t: t, root: t.TempDir(), dir: t.TempDir(), vars: map[string]string{}}
}

// repository makes the directory a git repository.
func (d *directory) initialized() *directory {
	d.t.Helper()
	require.NoError(d.t, exec.CommandContext(d.t.Context(), "git", "init", "--quiet", d.root).Run())
	return d
}

func (d *directory) write(file, text string) {
	d.t.Helper()
	require.NoError(d.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(d.t, os.WriteFile(file, []byte(text), 0o600))
}

func (d *directory) program(name, front string) {
	d.write(filepath.Join(d.root, ".autoloop/programs", name+".md"),
		"---\n"+front+"\n---\n## Goal\nFast.\n## Target\n`a.go`\n## Evaluation\n```sh\necho 1\n```\n")
}

func (d *directory) stateFile(name string) string {
	return filepath.Join(d.dir, "repo-memory/autoloop", name+".md")
}

func (d *directory) state(name, rows string) {
	d.write(d.stateFile(name), "## Machine State\n\n| Field | Value |\n|---|---|\n"+rows)
}

func (d *directory) run(args ...string) answer {
	d.t.Helper()
	return d.command(cli.Scheduler, args...)
}

func (d *directory) iterate(args ...string) answer {
	d.t.Helper()
	return d.command(cli.Iterate(nil, ""), args...)
}

func (d *directory) command(main func(context.Context, cli.Env) int, args ...string) answer {
	d.t.Helper()
	var out, errors bytes.Buffer
	env := cli.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out,
		Step: actions.Step{
			Stderr: &errors, Dir: d.root, Getenv: func(name string) string { return d.vars[name] },
			Environ: append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(d.root)),
		},
		Now:   func() time.Time { return time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC) },
		Sleep: d.sleep, Terminal: d.terminal,
	}
	d.vars["AUTOLOOP_DIR"] = d.dir
	code := main(context.Background(), env)
	return answer{code, out.String(), errors.String()}
}

func (d *directory) plan() map[string]any {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, "autoloop.json"))
	require.NoError(d.t, err)
	var plan map[string]any
	require.NoError(d.t, json.Unmarshal(data, &plan))
	return plan
}

const monthAgo = "| Last Run | 2026-02-04T11:00:00Z |\n"

func TestStatusNeverCutsAReason(t *testing.T) {
	d := newDirectory(t)
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
