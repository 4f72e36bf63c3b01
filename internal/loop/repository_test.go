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

// garden is one repository for many tests: each grows commits and branches of its own in
// it, and nobody changes what another has grown.
type garden struct {
	*git.Repo
	env []string
}

var openGarden = sync.OnceValues(func() (*garden, error) {
	dir, err := os.MkdirTemp("", "garden-") // below a directory that is removed with all of it
	if err != nil {
		return nil, err
	}
	g := &garden{env: gardenEnv(dir)}
	init := exec.Command("git", "init", "--quiet", "--initial-branch=none", filepath.Join(dir, "repo"))
	init.Env = g.env
	if out, err := init.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return g, nil
})

func gardenEnv(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A",
		"GIT_COMMITTER_EMAIL=a@example.com",
	}
}

// newOwnGarden is a garden that no other test sees.
func newOwnGarden(t *testing.T) *garden {
	t.Helper()
	dir := t.TempDir()
	g := &garden{env: gardenEnv(t.TempDir())}
	command(t, dir, g.env, "init", "--quiet", "--initial-branch=main")
	repo, err := git.Open(t.Context(), dir, g.env)
	require.NoError(t, err)
	g.Repo = repo
	return g
}

// one makes one commit of the files of its first parent, of which some are changed; an empty
// text removes its file.
func (g *garden) one(t *testing.T, message string, changed map[string]string, parents ...string) string {
	t.Helper()
	files := map[string]string{}
	for path, text := range changed {
		files[path] = cmp.Or(text, "-")
	}
	return g.grow(t, sprout{name: message, parents: strings.Join(parents, " "), files: files})[message]
}

// growing is held while the garden is opened or grown.
var growing sync.Mutex

func newGarden(t *testing.T) *garden {
	t.Helper()
	g, err := openGarden()
	require.NoError(t, err)
	growing.Lock()
	defer growing.Unlock()
	if g.Repo == nil {
		g.Repo, err = git.Open(t.Context(), filepath.Join(g.home(), "repo"), g.env)
		require.NoError(t, err)
	}
	return g
}

func (g *garden) home() string { return strings.TrimPrefix(g.env[1], "HOME=") }

// sprout is a commit to be made. Files has the content of each file that it changes, or
// "-" for one that goes.
type sprout struct {
	name    string // by which others name it as a parent
	branch  string // the branches that are to stand at it, with spaces between them
	message string
	parents string // their names, or commits, with spaces between them
	files   map[string]string
}

// grow makes commits and returns their ids by their names.
func (g *garden) grow(t *testing.T, sprouts ...sprout) map[string]string {
	t.Helper()
	growing.Lock()
	defer growing.Unlock()
	var script bytes.Buffer
	marks := map[string]int{}
	from := func(name string) string {
		if mark := marks[name]; mark > 0 {
			return fmt.Sprintf(":%d", mark)
		}
		return name
	}
	for i, s := range sprouts {
		marks[s.name] = i + 1
		message := s.message
		if message == "" {
			message = s.name
		}
		fmt.Fprintf(&script, "commit refs/grown/now\nmark :%d\ncommitter A <a@example.com> %d +0000\ndata %d\n%s\n",
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
		script.WriteString("reset refs/grown/now\n\n")
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
func (g *garden) git(t *testing.T, args ...string) string {
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
