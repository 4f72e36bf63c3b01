package cli_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/cli"
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

// shopOf is a shop with the program p of this frontmatter, whose evaluation prints value.txt.
func shopOf(t *testing.T, front string) *shop {
	t.Helper()
	s := newShop(t)
	s.file(".autoloop/programs/p.md", "---\n"+front+"---\n"+goodTarget+evaluation)
	s.file("value.txt", "5\n")
	s.commit()
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
