package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/org/autoloop/internal/actions"
	"github.com/org/autoloop/internal/cli"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/tests/testrepo"
)

// repository is a repository in which scheduler and iterate run, without GitHub.
type repository struct {
	*directory
	at   time.Time
	more []string // variables besides the usual ones
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	s := &repository{directory: newDirectory(t), at: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)}
	s.git("init", "--quiet", "--initial-branch", "main")
	return s
}

// repositoryOf is a repository with the program p of this frontmatter, whose evaluation prints value.txt.
func repositoryOf(t *testing.T, front string) *repository {
	t.Helper()
	s := newRepository(t)
	s.file(".autoloop/programs/p.md", "---\n"+front+"---\n"+goodTarget+evaluation)
	s.file("value.txt", "5\n")
	s.commit()
	return s
}

func (s *repository) environ() []string { return testrepo.Environ(s.dir, s.more...) }

func (s *repository) git(args ...string) string {
	s.t.Helper()
	return testrepo.At(s.t, s.root, s.environ()).Git(args...)
}

func (s *repository) commit() {
	s.t.Helper()
	testrepo.At(s.t, s.root, s.environ()).Commit("files")
}

func (s *repository) file(name, text string) {
	s.write(filepath.Join(s.root, filepath.FromSlash(name)), text)
}

func (s *repository) command(main func(context.Context, cli.Env) int, args ...string) answer {
	s.t.Helper()
	var out, errors bytes.Buffer
	vars := map[string]string{"AUTOLOOP_DIR": s.dir, "HOME": s.dir, "PATH": os.Getenv("PATH")}
	for _, variable := range s.more {
		name, value, _ := strings.Cut(variable, "=")
		vars[name] = value
	}
	code := main(s.t.Context(), cli.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out,
		Step: actions.Step{
			Stderr: &errors, Dir: s.root, Getenv: func(name string) string { return vars[name] },
			Environ: append(s.environ(), "AUTOLOOP_DIR="+s.dir),
		},
		Now: func() time.Time { return s.at }, Sleep: api.Sleep,
	})
	return answer{code, out.String(), errors.String()}
}

func (s *repository) scheduler(args ...string) answer {
	s.t.Helper()
	return s.command(cli.Scheduler, args...)
}

func (s *repository) iterate(args ...string) answer {
	s.t.Helper()
	return s.command(cli.Iterate(nil, ""), args...)
}

const (
	evaluation = "\n## Evaluation\n```sh\ncat value.txt\n```\n"
	goodTarget = "## Target\n- `value.txt`\n"
	changing   = "agent: command\nagent-command: date +%N > value.txt\nevaluation-runs: 1\nisolation: off\n"
)
