package tests

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// soaked is a program with a file of its own, of whose numbers two in three are better.
// Its agent counts the descriptors of the process that started its supervisor, once there
// is a file for that.
const soaked = `---
metric: m
metric_direction: lower
evaluation-runs: 1
plateau: off
agent: command
agent-command: (setsid sleep 300 &); f=$SIDE/descriptors; if [ -e $f ]; then ls /proc/$(sed -n 's/^PPid:[^0-9]*//p' /proc/$PPID/status)/fd | wc -l >>$f; fi; n=$AUTOLOOP_ITERATION; echo $((10000 - n + (n %% 3 == 0) * 100)) > %[1]s.txt
env: [SIDE]
---
## Goal
Move the number.
## Target
- ` + "`%[1]s.txt`" + `
## Evaluation
` + "```sh" + `
(setsid sleep 300 >/dev/null 2>&1 &)
printf '{"m": %%s}\n' "$(cat %[1]s.txt)"
` + "```" + `
`

// soak is two runners, each with a clone, that share a remote.
type soak struct {
	*world
	programs []string
	runners  []*world
	// iterations is how many each program is to have; none is begun after until, unless
	// that is zero.
	iterations int
	until      time.Time

	mu     sync.Mutex // guards what follows
	chance *rand.Rand
	kills  atomic.Int64
	moves  atomic.Int64
	edits  atomic.Int64
	over   atomic.Bool
}

// TestSoak lets two runners iterate three programs through a remote, kills them at
// random, moves the default branch, and edits a state meanwhile. AUTOLOOP_SOAK is how
// many iterations each program is to have, or a duration after which no more begin;
// AUTOLOOP_SOAK_SEED repeats the choices.
func TestSoak(t *testing.T) {
	long.Only(t, long.Simulations)
	seed := number(t, "AUTOLOOP_SOAK_SEED", int(time.Now().UnixNano()%1_000_000))
	var s *soak
	if lasts, err := time.ParseDuration(os.Getenv("AUTOLOOP_SOAK")); err == nil && lasts > 0 {
		s = newSoak(t, math.MaxInt, uint64(seed))
		s.until = time.Now().Add(lasts)
	} else {
		s = newSoak(t, number(t, "AUTOLOOP_SOAK", 6), uint64(seed))
	}
	t.Logf("AUTOLOOP_SOAK_SEED=%d", seed)
	var group sync.WaitGroup
	for i := range s.runners {
		group.Go(func() { s.runner(i) })
	}
	group.Go(s.people)
	group.Wait()
	if t.Failed() {
		return
	}
	s.settle()
	t.Logf("%d kills, %d moves of the default branch, %d edits", s.kills.Load(), s.moves.Load(), s.edits.Load())
	s.check()
}

func newSoak(t *testing.T, iterations int, seed uint64) *soak {
	t.Helper()
	s := &soak{programs: []string{"a", "b", "c"}, iterations: iterations, chance: rand.New(rand.NewPCG(seed, 1))}
	files := map[string]string{"other.txt": "0\n"}
	for _, name := range s.programs {
		files[".autoloop/programs/"+name+".md"] = fmt.Sprintf(soaked, name)
		files[name+".txt"] = "10000\n"
	}
	s.world = newWorld(t, files)
	remote := filepath.Join(s.side, "remote.git")
	s.run("", "git", "init", "--quiet", "--bare", "--initial-branch=main", remote)
	s.git("remote", "add", "origin", remote)
	s.git("push", "--quiet", "origin", "main")
	for i := range 2 {
		clone := *s.world
		clone.dir = filepath.Join(s.side, fmt.Sprintf("runner-%d", i))
		s.run("", "git", "clone", "--quiet", remote, clone.dir)
		s.runners = append(s.runners, &clone)
	}
	return s
}

// random is a number below n.
func (s *soak) random(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chance.IntN(n)
}

// decided is how many iterations a program has on the remote, by its state.
func (s *soak) decided(name string) int {
	out, _ := s.try("git", "--git-dir="+filepath.Join(s.side, "remote.git"), "show", "memory/autoloop:"+name+".md")
	for line := range strings.Lines(out) {
		if text, is := strings.CutPrefix(line, "| Iteration Count | "); is {
			n, _ := strconv.Atoi(strings.Trim(text, " |\n"))
			return n
		}
	}
	return 0
}

// ended reports whether no more iterations are to begin.
func (s *soak) ended() bool { return !s.until.IsZero() && time.Now().After(s.until) }

// try runs a command in the first repository.
func (s *soak) try(args ...string) (string, error) {
	cmd := exec.CommandContext(context.Background(), args[0], args[1:]...) //nolint:gosec // git
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// runner iterates whatever is not done yet; one run in three is killed.
func (s *soak) runner(i int) {
	defer s.over.Store(true)
	w := s.runners[i]
	for failures := 0; failures < 20; {
		var left []string
		for _, name := range s.programs {
			if s.decided(name) < s.iterations {
				left = append(left, name)
			}
		}
		if len(left) == 0 || s.ended() {
			return
		}
		name := left[s.random(len(left))]
		var after time.Duration
		if s.random(3) == 0 {
			after = time.Duration(s.random(2000)+1) * time.Millisecond
		}
		ended, text := s.iterate(w, name, after)
		switch {
		case strings.Contains(text, "paused"), strings.Contains(text, "in a row"):
			cmd := w.command("iterate", "resume", name, "--remote", "origin")
			_ = cmd.Run() // a program that is not paused any more refuses
		case ended && after == 0 && strings.Contains(text, "iterate: "):
			failures++
			s.t.Log(text)
		}
	}
	s.t.Errorf("runner %d failed twenty times", i)
}

// iterate runs a program once, and kills the run after a while unless that is 0.
func (s *soak) iterate(w *world, name string, after time.Duration) (ended bool, text string) {
	cmd := w.command("iterate", "--program", name, "--remote", "origin")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		s.t.Error(err)
		return true, err.Error()
	}
	var killed atomic.Bool
	if after > 0 {
		timer := time.AfterFunc(after, func() { killed.Store(cmd.Process.Kill() == nil) })
		defer timer.Stop()
	}
	_ = cmd.Wait()
	if killed.Load() {
		s.kills.Add(1)
		return false, ""
	}
	return true, out.String()
}

// people move the default branch and write into states until the runners are done.
func (s *soak) people() {
	for n := 1; !s.over.Load(); n++ {
		if s.random(2) == 0 {
			if s.write("other.txt", fmt.Sprintf("%d\n", n)); s.pushed("commit", "--quiet", "--all", "--message",
				fmt.Sprintf("other %d", n)) {
				s.moves.Add(1)
			}
		} else if s.edit(s.programs[s.random(len(s.programs))], n) {
			s.edits.Add(1)
		}
		select {
		case <-s.t.Context().Done():
			return
		case <-time.After(time.Duration(500+s.random(1500)) * time.Millisecond):
		}
	}
}

// pushed makes a commit on main and pushes it.
func (s *soak) pushed(args ...string) bool {
	if _, err := s.try(append([]string{"git"}, args...)...); err != nil {
		return false
	}
	_, err := s.try("git", "push", "--quiet", "origin", "main")
	return err == nil
}

// edit adds a lesson to a program's state, as a person does in a clone; another writer
// may be faster.
func (s *soak) edit(name string, n int) bool {
	dir := filepath.Join(s.side, "edit-"+strconv.Itoa(n))
	defer func() { _ = os.RemoveAll(dir) }()
	if _, err := s.try("git", "clone", "--quiet", "--branch", "memory/autoloop", filepath.Join(s.side, "remote.git"),
		dir); err != nil {
		return false
	}
	file := filepath.Join(dir, name+".md")
	text, err := os.ReadFile(file)
	heading := "## 📚 Lessons Learned\n"
	before, after, found := strings.Cut(string(text), heading)
	if err != nil || !found || os.WriteFile(file,
		[]byte(fmt.Sprintf("%s%s\n- a person's remark %d%s", before, heading, n, after)), 0o600) != nil {
		return false
	}
	if _, err := s.try("git", "-C", dir, "commit", "--quiet", "--all", "--message", "a remark"); err != nil {
		return false
	}
	_, err = s.try("git", "-C", dir, "push", "--quiet", "origin", "memory/autoloop")
	return err == nil
}

// settle runs every program once more in each clone, so that what was interrupted last
// is cleared up.
func (s *soak) settle() {
	s.t.Helper()
	for _, w := range s.runners {
		for _, name := range s.programs {
			_ = w.command("iterate", "resume", name, "--remote", "origin").Run() // not every one is paused
			a := w.binary("iterate", "--program", name, "--remote", "origin")
			require.Zero(s.t, a.code, a.stdout+a.stderr)
		}
	}
}

// check holds what is left against what must be.
func (s *soak) check() {
	t := s.t
	t.Helper()
	s.alone()
	for _, w := range s.runners {
		a := w.binary("iterate", "replay", "--remote", "origin")
		assert.Zero(t, a.code, a.stdout+a.stderr)
		s.whole(w.dir)
	}
	s.whole(filepath.Join(s.side, "remote.git"))
	for _, name := range s.programs {
		t.Logf("%s has %d iterations", name, s.decided(name))
		if s.until.IsZero() {
			assert.GreaterOrEqual(t, s.decided(name), s.iterations, name)
		}
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(s.side), "tmp", "*"))
	require.NoError(t, err)
	assert.Empty(t, left, "temporary directories")
	require.NoError(t, filepath.WalkDir(s.side, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(path,
			".lock") { // git's own gc removes objects that a killed git left half written
			t.Errorf("%s is left", path)
		}
		return err
	}))
	s.descriptors()
}

// whole holds that no object of a repository is missing. One where some are is kept, to be
// looked at, and the error says whether a ref or its log reaches them.
func (s *soak) whole(dir string) {
	s.t.Helper()
	out, err := s.try("git", "-C", dir, "fsck", "--strict", "--no-dangling")
	if err == nil {
		return
	}
	kept, broken := os.MkdirTemp(os.TempDir(), "autoloop-soak-*")
	require.NoError(s.t, broken)
	require.NoError(s.t, os.CopyFS(kept, os.DirFS(dir)))
	reached, lost := s.try("git", "-C", dir, "rev-list", "--objects", "--quiet", "--all", "--reflog")
	s.t.Errorf("%s: %v\n%s\nwhat refs and their logs reach: %v %s\na copy is in %s", dir, err, out, lost, reached, kept)
}

// descriptors looks at one process that iterates several times: how many descriptors it
// has while an agent works, which is the same moment of every iteration, does not grow.
func (s *soak) descriptors() {
	t := s.t
	t.Helper()
	const iterations = 8
	file := filepath.Join(s.side, "descriptors")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	a := s.runners[0].process("iterate", "--program", "a", "--remote", "origin", "-n", strconv.Itoa(iterations))
	require.Zero(t, a.code, a.stdout+a.stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var counts []int
	for _, line := range strings.Fields(string(text)) {
		n, err := strconv.Atoi(line)
		require.NoError(t, err)
		counts = append(counts, n)
	}
	require.Len(t, counts, iterations)
	t.Logf("descriptors of a process while its agents work: %v", counts)
	assert.LessOrEqual(t, slices.Min(counts[iterations/2:]), slices.Max(counts[:iterations/2]), "they grow")
}
