package tests

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/tests/long"
)

// TestTenThousandPrograms selects among 10,000 programs with 100 iterations each: the
// whole process beside merely reading the same program files and states.
func TestTenThousandPrograms(t *testing.T) {
	long.Only(t, long.Simulations)
	const programs = 10_000
	w := longWorld(t, 100)
	one := map[string]string{} // the files of a program on the branch, by their endings
	for _, ending := range []string{".md", ".jsonl", ".results.tsv"} {
		one[ending] = w.git("rev-parse", "memory/autoloop:p"+ending)
	}
	sealed := strings.Split(w.git("ls-tree", "-r", "memory/autoloop", "p.ledger/"), "\n")
	// None of them has reached its plateau, which would pause it, and each is due at another time.
	state := strings.ReplaceAll(w.memory("p.md"), "rejected, rejected, rejected", "rejected, accepted, rejected")
	begun := time.Now().UTC()
	var stream strings.Builder
	stream.WriteString("commit refs/heads/memory/autoloop\ncommitter A <a@b> 1700000000 +0000\ndata 1\nm")
	for i := range programs {
		name := fmt.Sprintf("program-%05d", i)
		w.write(".autoloop/programs/"+name+".md", fmt.Sprintf(values, "schedule: daily\nmetric_direction: lower"))
		last := begun.Add(-time.Duration(i) * time.Minute).Format(time.RFC3339)
		text := strings.NewReplacer("# Autoloop: p\n", "# Autoloop: "+name+"\n", "| Last Run | — |", "| Last Run | "+last+" |").Replace(state)
		fmt.Fprintf(&stream, "\nM 100644 inline %s.md\ndata %d\n%s", name, len(text), text)
		for _, ending := range []string{".jsonl", ".results.tsv"} {
			fmt.Fprintf(&stream, "\nM 100644 %s %s%s", one[ending], name, ending)
		}
		for _, line := range sealed {
			fields := strings.Fields(line) // 100644 blob <id> p.ledger/<file>
			fmt.Fprintf(&stream, "\nM 100644 %s %s", fields[2], name+strings.TrimPrefix(fields[3], "p"))
		}
	}
	stream.WriteString("\ndone\n")
	repo, err := git.Open(t.Context(), w.dir, os.Environ())
	require.NoError(t, err)
	w.git("update-ref", "-d", "refs/heads/memory/autoloop")
	_, err = repo.Run(t.Context(), git.Input{Stdin: []byte(stream.String())}, "fast-import", "--quiet", "--done")
	require.NoError(t, err)

	ids := ""
	for line := range strings.Lines(w.git("ls-tree", "memory/autoloop")) {
		if fields := strings.Fields(line); strings.HasSuffix(fields[3], ".md") {
			ids += fields[2] + "\n"
		}
	}
	reading := func() time.Duration {
		begun := processorTime(t)
		for i := range programs {
			name := fmt.Sprintf("program-%05d.md", i)
			_, err := os.ReadFile(filepath.Join(w.dir, ".autoloop/programs", name))
			require.NoError(t, err)
		}
		cmd := exec.CommandContext(t.Context(), "git", "cat-file", "--batch")
		cmd.Dir, cmd.Env, cmd.Stdin = w.dir, w.env, strings.NewReader(ids)
		out, err := cmd.Output()
		require.NoError(t, err)
		require.Equal(t, programs, bytes.Count(out, []byte("Machine State")))
		return processorTime(t) - begun
	}
	plain, whole := time.Hour, time.Hour
	var memory int64
	for range 3 { // the least of each: others work here too
		plain = min(plain, reading())
		before := processorTime(t)
		_, err := w.command("scheduler", "--out", filepath.Join(w.side, "autoloop.json")).Output()
		require.NoError(t, err)
		whole = min(whole, processorTime(t)-before)
		memory = max(memory, peak(t, w.command("scheduler", "--out", filepath.Join(w.side, "autoloop.json"))))
	}
	t.Logf("%d ms of a processor, %.1f times merely reading (%d ms); %d MB", whole.Milliseconds(), whole.Seconds()/plain.Seconds(), plain.Milliseconds(), memory>>10)
	assert.Less(t, memory>>10, int64(200), "MB")
	tree := w.git("cat-file", "-s", "memory/autoloop^{tree}")
	t.Logf("the root tree of the memory branch has %s bytes", tree)
}

// processorTime is what this process and the processes that it waited for have used.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		require.NoError(t, syscall.Getrusage(who, &used))
		sum += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return sum
}

// TestReadingALongLedgerNeedsLittleMemory: page, log and replay go through a ledger of
// 25 MB segment by segment.
func TestReadingALongLedgerNeedsLittleMemory(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	most := map[string]map[int]int64{}
	for _, iterations := range []int{100, 5_000} {
		w := longerWorld(t, iterations, 4<<10)
		for _, args := range [][]string{{"page", "--out", filepath.Join(w.side, "page.html")}, {"log", "p"}, {"replay", "p"}} {
			cmd := w.command("iterate", args...)
			begun := time.Now()
			used := peak(t, cmd)
			if most[args[0]] == nil {
				most[args[0]] = map[int]int64{}
			}
			most[args[0]][iterations] = used >> 10
			t.Logf("%s, %d iterations: %d MB, %d ms", args[0], iterations, used>>10, time.Since(begun).Milliseconds())
		}
	}
	for name, bound := range map[string]int64{"page": 30, "log": 20, "replay": 20} {
		assert.Less(t, most[name][5_000]-most[name][100], bound, "%s: MB more for 4,900 iterations", name)
	}
}

// peak runs a command and returns the most memory that it had, in KB.
func peak(t *testing.T, cmd *exec.Cmd) int64 {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	most, err := watched(cmd)
	require.NoError(t, err, "%s", out.Bytes()[max(0, out.Len()-1000):])
	return most
}

// watched waits for a command that was started, and returns the most memory that it had,
// in KB. What the kernel says when it has ended would also count what this process had
// when it forked.
func watched(cmd *exec.Cmd) (most int64, err error) {
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	ticks := time.NewTicker(2 * time.Millisecond)
	defer ticks.Stop()
	for {
		select {
		case err := <-ended:
			return most, err
		case <-ticks.C:
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			_, after, found := strings.Cut(string(status), "VmHWM:")
			if fields := strings.Fields(after); found && len(fields) > 0 {
				n, _ := strconv.ParseInt(fields[0], 10, 64)
				most = max(most, n)
			}
		}
	}
}
