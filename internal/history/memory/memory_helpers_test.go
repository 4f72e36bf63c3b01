package memory_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
)

const memoryRef = "refs/heads/memory/autoloop"

// checkout is a user's clone or repository with its memory.
type checkout struct {
	*memory.Memory
	t   testing.TB
	env []string
	dir string
}

func userEnv(t testing.TB) []string {
	t.Helper()
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=User", "GIT_AUTHOR_EMAIL=user@example.com",
		"GIT_COMMITTER_NAME=User", "GIT_COMMITTER_EMAIL=user@example.com",
	}
}

// newCheckout is a repository with one commit on main and no remote.
func newCheckout(t testing.TB) *checkout {
	t.Helper()
	c := &checkout{t: t, env: userEnv(t), dir: filepath.Join(t.TempDir(), "repo")}
	require.NoError(t, os.Mkdir(c.dir, 0o755))
	c.user("init", "-q", "-b", "main")
	c.write("a", "one\n")
	c.user("add", "-A")
	c.user("commit", "-q", "-m", "first")
	c.openMemory("")
	return c
}

// newShared is a bare repository with one commit, and a way to clone it.
func newShared(t testing.TB) (bare string, clone func(flags ...string) *checkout) {
	t.Helper()
	seed := newCheckout(t)
	bare = filepath.Join(t.TempDir(), "shared.git")
	seed.user("clone", "-q", "--bare", ".", bare)
	return bare, func(flags ...string) *checkout {
		t.Helper()
		c := &checkout{t: t, env: userEnv(t), dir: filepath.Join(t.TempDir(), "clone")}
		require.NoError(t, os.Mkdir(c.dir, 0o755))
		c.user(append(append([]string{"clone", "-q"}, flags...), "file://"+bare, ".")...)
		c.openMemory("origin")
		return c
	}
}

func (c *checkout) openMemory(remote string) {
	c.t.Helper()
	repo, err := git.Open(c.t.Context(), c.dir, c.env)
	require.NoError(c.t, err)
	at := time.Date(2025, 1, 15, 10, 30, 0, 0, time.UTC)
	c.Memory = &memory.Memory{Repo: repo, Remote: remote, Now: func() time.Time { return at }}
}

func (c *checkout) run(dir string, args ...string) (string, error) { return c.say(dir, "", args...) }

// say is run with something to read.
func (c *checkout) say(dir, in string, args ...string) (string, error) {
	cmd := exec.CommandContext(context.Background(), "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, c.env, strings.NewReader(in)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = errors.New("git " + strings.Join(args, " ") + ": " + stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

func (c *checkout) user(args ...string) string {
	c.t.Helper()
	out, err := c.run(c.dir, args...)
	require.NoError(c.t, err)
	return out
}

// has is the value of a ref here, or "".
func (c *checkout) has(ref string) string {
	out, err := c.run(c.dir, "rev-parse", "--verify", "--quiet", ref)
	if err != nil {
		return ""
	}
	return out
}

func (c *checkout) write(path, text string) {
	c.t.Helper()
	require.NoError(c.t, os.WriteFile(filepath.Join(c.dir, path), []byte(text), 0o644))
}

// adding adds a line to the ledger: a setting of this name.
func adding(line string) func(memory.Files) (memory.Files, error) {
	return func(current memory.Files) (memory.Files, error) {
		log, err := current.Log()
		if err != nil {
			return current, err
		}
		if err := log.Append(&history.Set{Key: line}); err != nil {
			return current, err
		}
		current.Ledger = log
		current.State = []byte("state after " + line + "\n")
		return current, nil
	}
}

// more is an update of program x that adds a line.
func more(line string) memory.Update {
	return memory.Update{Program: "x", Message: "m", Apply: adding(line)}
}

func (c *checkout) add(program, line string) string {
	c.t.Helper()
	commit, err := c.Update(c.t.Context(), memory.Update{Program: program, Message: line, Apply: adding(line)})
	require.NoError(c.t, err)
	return commit
}

// ledger is the lines of a program's ledger.
func (c *checkout) ledger(program string) []string {
	c.t.Helper()
	files, _, err := c.Read(c.t.Context(), program)
	require.NoError(c.t, err)
	log, err := files.Log()
	require.NoError(c.t, err)
	var lines []string
	for e := range history.Of[*history.Set](slices.All(log.Events)) {
		lines = append(lines, e.Key)
	}
	return lines
}

// commit makes a commit on top of the parents that no branch has.
func (c *checkout) commit(text string, parents ...string) string {
	c.t.Helper()
	args := []string{"commit-tree", "-m", text, "HEAD^{tree}"}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	return c.user(args...)
}

// checkoutState is everything of the user's that must stay as it is, bit by
// bit.
func (c *checkout) checkoutState() map[string]string {
	c.t.Helper()
	state := map[string]string{"status": c.user("status", "--porcelain=v2", "--branch")}
	for _, file := range []string{
		"HEAD", "index", "logs/HEAD", "logs/refs/heads/main", "config", "FETCH_HEAD",
		"ORIG_HEAD", "a",
	} {
		path := filepath.Join(c.dir, ".git", file)
		if file == "a" {
			path = filepath.Join(c.dir, file)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			data = []byte(err.Error())
		}
		state[file] = string(data)
	}
	return state
}

// iterate records one iteration in two updates, as a run does.
func (c *checkout) iterate(number int) {
	c.t.Helper()
	run := fmt.Sprintf("run-%d", number)
	at := time.Date(2025, 1, 1, 0, number, 0, 0, time.UTC)
	value := metric.FromInt(int64(-number))
	is := history.Head{Run: run, Time: at, Iteration: number}
	c.record(run, &history.Started{Head: is, Lease: &history.Lease{Host: "h"}})
	c.record(run,
		&history.Measured{Head: is, Role: history.Candidate, Metric: &value, Output: "printed\n"},
		&history.Decided{Head: is, Outcome: history.Rejected, Metric: &value, Digest: fmt.Sprintf("digest-%d", number)},
		&history.Finished{Head: is, Outcome: history.Rejected})
}

func (c *checkout) record(message string, events ...history.Event) {
	c.t.Helper()
	_, err := c.Update(c.t.Context(),
		memory.Update{Program: "p", Message: message, Apply: func(current memory.Files) (memory.Files, error) {
			log, err := current.Log()
			require.NoError(c.t, err)
			require.NoError(c.t, log.Append(events...))
			doc := state.New("p")
			return memory.Files{State: doc.Render(), Ledger: log}, nil
		}})
	require.NoError(c.t, err)
}

// lived is a checkout with so many iterations.
func lived(t *testing.T, iterations int) *checkout {
	t.Helper()
	c := newCheckout(t)
	for number := range iterations {
		c.iterate(number + 1)
	}
	return c
}

// iteration is the text of the file of an iteration with these settings.
func iteration(number int, keys ...string) string {
	var lines []string
	for _, key := range keys {
		lines = append(lines, fmt.Sprintf(
			`{"schema":1,"event":"set","time":"2026-01-01T00:00:00Z","run_id":"r","iteration":%d,"key":%q}`,
			number, key))
	}
	return fmt.Sprintf("{\"schema\":1,\"iteration\":%d,\"events\":[\n%s\n]}\n", number, strings.Join(lines, ",\n"))
}

// put changes files of the branch in a commit as a person would; "" removes.
func (c *checkout) put(texts map[string]string) {
	c.t.Helper()
	files := map[string]*git.File{}
	for name, text := range texts {
		files[name] = nil
		if text != "" {
			files[name] = &git.File{Data: []byte(text)}
		}
	}
	tree, err := c.Repo.WriteFiles(c.t.Context(), memoryRef, files)
	require.NoError(c.t, err)
	c.user("update-ref", memoryRef, c.user("commit-tree", "-m", "by hand", "-p", memoryRef, tree))
}

// audited are the program's records as its audit reads them.
func (c *checkout) audited() (audit.Records, error) {
	c.t.Helper()
	records, _, err := c.report()
	return records, err
}

func (c *checkout) report() (audit.Records, audit.Report, error) {
	c.t.Helper()
	records, err := c.Records(c.t.Context(), "p", "autoloop/p", nil)
	return records, audit.Of(records, nil), err
}

// begin makes the memory branch one commit with these files, and returns it.
func (c *checkout) begin(all ...map[string]string) string {
	c.t.Helper()
	files := map[string]*git.File{}
	for _, texts := range all {
		for name, text := range texts {
			mode := git.ModeFile
			target, link := strings.CutPrefix(text, "-> ")
			if link {
				text, mode = target, git.ModeSymlink
			}
			files[name] = &git.File{Mode: mode, Data: []byte(text)}
		}
	}
	return c.atop(files)
}

// atop makes the memory branch a commit of these files, on top of the parents.
func (c *checkout) atop(files map[string]*git.File, parents ...string) string {
	c.t.Helper()
	base := ""
	if len(parents) > 0 {
		base = parents[0]
	}
	tree, err := c.Repo.WriteFiles(c.t.Context(), base, files)
	require.NoError(c.t, err)
	commit, err := c.Repo.CommitTree(c.t.Context(), tree, parents, "by hand\n", c.Now())
	require.NoError(c.t, err)
	require.NoError(c.t, c.Repo.UpdateRefs(c.t.Context(), "by hand",
		git.RefUpdate{Ref: memoryRef, New: commit, Old: git.Any}))
	return commit
}

func (c *checkout) numbers() (decided []int, summary history.Summary) {
	c.t.Helper()
	files, _, err := c.Read(c.t.Context(), "p")
	require.NoError(c.t, err)
	log, err := files.Log()
	require.NoError(c.t, err)
	for e := range history.Of[*history.Decided](slices.All(log.Events)) {
		decided = append(decided, e.Iteration)
	}
	return decided, log.Summary()
}
