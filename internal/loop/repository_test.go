package loop

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

// commitRepo is one repository for many tests: each commits commits and branches of its own in
// it, and nobody changes what another has committed.
type commitRepo struct {
	*git.Repo
	env []string
}

var openCommitRepo = sync.OnceValues(func() (*commitRepo, error) {
	dir, err := os.MkdirTemp("", "commitRepo-") // below a directory that is removed with all of it
	if err != nil {
		return nil, err
	}
	g := &commitRepo{env: commitRepoEnv(dir)}
	init := exec.Command("git", "init", "--quiet", "--initial-branch=none", filepath.Join(dir, "repo"))
	init.Env = g.env
	if out, err := init.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return g, nil
})

func commitRepoEnv(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A",
		"GIT_COMMITTER_EMAIL=a@example.com",
	}
}

// newOwnCommitRepo is a commitRepo that no other test sees.
func newOwnCommitRepo(t *testing.T) *commitRepo {
	t.Helper()
	dir := t.TempDir()
	g := &commitRepo{env: commitRepoEnv(t.TempDir())}
	command(t, dir, g.env, "init", "--quiet", "--initial-branch=main")
	repo, err := git.Open(t.Context(), dir, g.env)
	require.NoError(t, err)
	g.Repo = repo
	return g
}

// one makes one commit of the files of its first parent, of which some are changed; an empty
// text removes its file.
func (g *commitRepo) one(t *testing.T, message string, changed map[string]string, parents ...string) string {
	t.Helper()
	files := map[string]string{}
	for path, text := range changed {
		files[path] = cmp.Or(text, "-")
	}
	return g.commit(t, commitSpec{name: message, parents: strings.Join(parents, " "), files: files})[message]
}

// committing is held while the commitRepo is opened or committed.
var committing sync.Mutex

func newCommitRepo(t *testing.T) *commitRepo {
	t.Helper()
	g, err := openCommitRepo()
	require.NoError(t, err)
	committing.Lock()
	defer committing.Unlock()
	if g.Repo == nil {
		g.Repo, err = git.Open(t.Context(), filepath.Join(g.home(), "repo"), g.env)
		require.NoError(t, err)
	}
	return g
}

func (g *commitRepo) home() string { return strings.TrimPrefix(g.env[1], "HOME=") }

// commitSpec is a commit to be made. Files has the content of each file that it changes, or
// "-" for one that goes.
type commitSpec struct {
	name    string // by which others name it as a parent
	branch  string // the branches that are to stand at it, with spaces between them
	message string
	parents string // their names, or commits, with spaces between them
	files   map[string]string
}

// commit makes commits and returns their ids by their names.
func (g *commitRepo) commit(t *testing.T, specs ...commitSpec) map[string]string {
	t.Helper()
	committing.Lock()
	defer committing.Unlock()
	var script bytes.Buffer
	marks := map[string]int{}
	from := func(name string) string {
		if mark := marks[name]; mark > 0 {
			return fmt.Sprintf(":%d", mark)
		}
		return name
	}
	for i, s := range specs {
		marks[s.name] = i + 1
		message := s.message
		if message == "" {
			message = s.name
		}
		fmt.Fprintf(&script, "commit refs/committed/now\nmark :%d\ncommitter A <a@example.com> %d +0000\ndata %d\n%s\n",
			i+1,
			1700000000+i, len(message), message)
		for j, parent := range strings.Fields(s.parents) {
			fmt.Fprintf(&script, "%s %s\n", []string{"from", "merge"}[min(j, 1)], from(parent))
		}
		for _, path := range slices.Sorted(maps.Keys(s.files)) {
			if text := s.files[path]; text == "-" {
				fmt.Fprintf(&script, "D %s\n", path)
			} else {
				fmt.Fprintf(&script, "M 100644 inline %s\ndata %d\n%s\n", path, len(text), text)
			}
		}
		script.WriteString("reset refs/committed/now\n\n")
		for branch := range strings.FieldsSeq(s.branch) {
			fmt.Fprintf(&script, "reset refs/heads/%s\nfrom :%d\n\n", branch, i+1)
		}
	}
	list := filepath.Join(t.TempDir(), "marks")
	cmd := exec.CommandContext(t.Context(), "git", "fast-import", "--quiet", "--force", "--export-marks="+list)
	cmd.Dir, cmd.Env, cmd.Stdin = g.Root, g.env, &script
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	data, err := os.ReadFile(list)
	require.NoError(t, err)
	ids := map[string]string{}
	for line := range strings.Lines(string(data)) {
		mark, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		for name, number := range marks {
			if mark == fmt.Sprintf(":%d", number) {
				ids[name] = id
			}
		}
	}
	return ids
}

// git asks git itself.
func (g *commitRepo) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Env = g.Root, g.env
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

// command runs git in a directory.
func command(t *testing.T, dir string, env []string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, out)
}
