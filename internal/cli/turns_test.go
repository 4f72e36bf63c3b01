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
	"github.com/org/autoloop/tests/long"
)

// shop is a repository in which scheduler and iterate run, without GitHub.
type shop struct {
	*desk
	at   time.Time
	more []string // variables besides the usual ones
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{desk: newDesk(t), at: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)}
	s.git("init", "--quiet", "--initial-branch", "main")
	return s
}

func (s *shop) environ() []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=User",
		"GIT_AUTHOR_EMAIL=user@example.com",
		"GIT_COMMITTER_NAME=User", "GIT_COMMITTER_EMAIL=user@example.com",
	}, s.more...)
}

func (s *shop) git(args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = s.root, s.environ()
	out, err := cmd.CombinedOutput()
	require.NoError(s.t, err, string(out))
	return string(out)
}

func (s *shop) commit() {
	s.t.Helper()
	s.git("add", "--all")
	s.git("commit", "--quiet", "--allow-empty", "--message", "files")
}

func (s *shop) file(name, text string) {
	s.write(filepath.Join(s.root, filepath.FromSlash(name)), text)
}

func (s *shop) command(main func(context.Context, cli.Env) int, args ...string) answer {
	s.t.Helper()
	var out, errors bytes.Buffer
	vars := map[string]string{"AUTOLOOP_DIR": s.dir, "HOME": s.dir, "PATH": os.Getenv("PATH")}
	for _, variable := range s.more {
		name, value, _ := strings.Cut(variable, "=")
		vars[name] = value
	}
	code := main(s.t.Context(), cli.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errors, Dir: s.root,
		Getenv: func(name string) string { return vars[name] }, Environ: append(s.environ(), "AUTOLOOP_DIR="+s.dir),
		Now: func() time.Time { return s.at },
	})
	return answer{code, out.String(), errors.String()}
}

func (s *shop) scheduler(args ...string) answer {
	s.t.Helper()
	return s.command(cli.Scheduler, args...)
}

func (s *shop) iterate(args ...string) answer {
	s.t.Helper()
	return s.command(cli.Iterate(nil, ""), args...)
}

const (
	evaluation = "\n## Evaluation\n```sh\ncat value.txt\n```\n"
	goodTarget = "## Target\n- `value.txt`\n"
	changing   = "agent: command\nagent-command: date +%N > value.txt\nevaluation-runs: 1\nisolation: off\n"
)

// TestRefusingProgramsStarveNobody: every way in which a program can be refused
// stands beside one that runs, and none of them takes its turns.
func TestRefusingProgramsStarveNobody(t *testing.T) {
	long.Only(t, long.Simulations)
	s := newShop(t)
	for name, text := range map[string]string{
		"a-prose":     "## Target\nThe `speed` of it\n" + evaluation,
		"b-command":   "---\nagent: command\n---\n" + goodTarget + evaluation,
		"c-marks":     "---\nagent: tuner\n---\n" + goodTarget + evaluation,
		"d-gate":      "---\nci-gate: required\n" + changing + "---\n" + goodTarget + evaluation,
		"e-metrics":   "---\n" + changing + "---\nThe metric is `a`.\n\nThe metric is `b`.\n" + goodTarget + evaluation,
		"f-direction": "---\n" + changing + "---\nLower is better.\n" + goodTarget + evaluation,
		"g-nothing": "---\n" + changing +
			"---\n## Target\n- `value.txt`\n\nDo NOT modify `value.txt`.\n" + evaluation,
		"h-missing": "---\nagent: claude\nisolation: off\n---\n" + goodTarget + evaluation, // shows at run time
		"i-nobody":  "---\nisolation: off\n---\n" + goodTarget + evaluation,                // so does this
		"j-away":    "---\nshare: [away]\n" + changing + "---\n" + goodTarget + evaluation, // ignored, and not here
		"k-shared":  "---\nshare: [value.txt]\n" + changing + "---\n" + goodTarget + evaluation,
		"l-tasks":   "---\ntasks: nowhere\n" + changing + "---\n" + goodTarget,
		"m-unknown": "---\nagent: gpt9\n---\n" + goodTarget + evaluation,
		"z-good":    "---\n" + changing + "---\n" + goodTarget + evaluation,
	} {
		s.file(".autoloop/programs/"+name+".md", text)
	}
	s.file("value.txt", "5\n")
	s.file(".gitignore", "away\n")
	s.commit()
	ran := map[string]int{}
	var order []string
	for range 14 {
		s.at = s.at.Add(time.Minute)
		require.Zero(t, s.scheduler().code)
		name, _ := s.plan()["selected"].(string)
		require.NotEmpty(t, name)
		ran[name]++
		order = append(order, name)
		s.iterate()
	}
	assert.Equal(t, map[string]int{"h-missing": 3, "i-nobody": 3, "j-away": 3, "z-good": 5}, ran, "%v", order)
	for i := range order[:len(order)-1] {
		if order[i] != "z-good" {
			assert.NotEqual(t, order[i], order[i+1], "%v", order)
		}
	}
	status := s.iterate("status", "--json")
	var list []struct{ Name, State, Reason string }
	require.NoError(t, json.Unmarshal([]byte(status.out), &list))
	reasons := map[string]string{}
	for _, one := range list {
		reasons[one.Name] = one.State + ": " + one.Reason
	}
	for name, says := range map[string]string{
		"a-prose": "error: .autoloop/programs/a-prose.md: no target", "b-command": "`agent: command` has no command",
		"c-marks": "tune", "d-gate": "`ci-gate: required` needs",
		"e-metrics": "two metrics", "f-direction": "metric_direction: lower", "g-nothing": "nothing may change",
		"h-missing": "paused: ", "i-nobody": "paused: ",
		"j-away": "the last: share: \"away\" is not in the main checkout", "k-shared": "error: ", "l-tasks": "error: ",
		"m-unknown": "error: ", "z-good": "due: ",
	} {
		assert.Contains(t, reasons[name], says, name)
	}
	assert.Contains(t, reasons["h-missing"], "errors in a row")
	assert.Contains(t, s.git("show", "memory/autoloop:h-missing.md"), "claude")
	a := s.iterate("--program", "a-prose")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.errors, "no target", "iterate says the same")
}
