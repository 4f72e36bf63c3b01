package memory_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/tests/long"
)

// looseObjects is how many objects have files of their own.
func (c *checkout) looseObjects() int {
	n, err := strconv.Atoi(strings.Fields(c.user("count-objects"))[0])
	require.NoError(c.t, err)
	return n
}

// due makes the next update one that packs.
func (c *checkout) due() {
	c.t.Helper()
	dir := filepath.Join(c.dir, ".git/autoloop")
	require.NoError(c.t, os.MkdirAll(dir, 0o755))
	require.NoError(c.t, os.WriteFile(filepath.Join(dir, "updates"), []byte("99999999\n"), 0o600))
}

func TestUpdatesArePacked(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	c := sealed(t, 130) // 260 updates
	assert.Less(t, c.looseObjects(), 100)
	packs, err := filepath.Glob(filepath.Join(c.dir, ".git/objects/pack/autoloop-*.pack"))
	require.NoError(t, err)
	assert.Len(t, packs, 1)
	c.user("fsck", "--strict")
	decided, _ := c.numbers()
	assert.Len(t, decided, 130)
	for i := range 14 {
		c.due()
		c.iterate(131 + i)
	}
	packs, err = filepath.Glob(filepath.Join(c.dir, ".git/objects/pack/autoloop-*.pack"))
	require.NoError(t, err)
	assert.Less(t, len(packs), 12)
	c.user("fsck", "--strict")
	assert.Less(t, diskUse(t, filepath.Join(c.dir, ".git/objects")), int64(4<<20))
}

// diskUse is what the files below a directory take in blocks of 4 KB.
func diskUse(t *testing.T, dir string) int64 {
	t.Helper()
	var sum int64
	require.NoError(t, filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			sum += (info.Size() + 4095) / 4096 * 4096
		}
		return err
	}))
	return sum
}

// writes is a variable with a directory in which the process that
// TestKilledWhileSealingAndPacking kills iterates until then.
const writes = "AUTOLOOP_TEST_WRITES"

func iterateUntilKilled(t *testing.T, dir string) {
	t.Helper()
	c := &checkout{t: t, env: userEnv(t), dir: dir}
	c.openMemory("")
	_, summary := c.numbers()
	for number := summary.Iteration + 1; ; number++ {
		c.due()
		c.iterate(number)
		fmt.Println("iterated", number)
	}
}

// TestKilledWhileSealingAndPacking kills a process that does nothing else, with all its
// git processes, at many moments.
func TestKilledWhileSealingAndPacking(t *testing.T) {
	long.Only(t, long.Kills)
	if dir := os.Getenv(writes); dir != "" {
		iterateUntilKilled(t, dir)
	}
	t.Parallel()
	c := sealed(t, 12)
	for kill := range 12 {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v") //nolint:noctx // it is killed
		cmd.Env = append(os.Environ(), writes+"="+c.dir)
		inOwnGroup(cmd)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for seen := 0; seen <= kill%4 && lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "iterated") {
				seen++
			}
		}
		killGroup(cmd)
		_ = cmd.Wait()
		c.user("fsck", "--strict")
	}
	c.iterate(1000)
	decided, _ := c.numbers()
	for i, number := range decided[:len(decided)-1] {
		require.Equal(t, i+1, number, "nothing is lost, nothing is there twice")
	}
	records, err := c.audited()
	require.NoError(t, err)
	assert.Empty(t, records.Broken)
	assert.Empty(t, records.Rewritten)
	assert.Greater(t, len(c.names()), 4, "segments were sealed meanwhile")
}

// TestPushesAreThin: of a table that grew by a line the remote is sent the line alone. A
// remote that keeps what it is sent as a pack adds the table of before to it, and has the
// new one as a difference.
func TestPushesAreThin(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	c := clone()
	c.user("--git-dir="+bare, "config", "receive.unpackLimit", "1")
	chance := rand.New(rand.NewPCG(1, 3))
	var table bytes.Buffer
	for range 3 {
		for range 2000 {
			fmt.Fprintf(&table, "%x\n", chance.Uint64())
		}
		_, err := c.Update(t.Context(), memory.Update{Program: "p", Message: "more", Apply: func(current memory.Files) (memory.Files, error) {
			current.State, current.Ledger, current.Results = []byte("state\n"), []byte("{\"event\":\"note\"}\n"), bytes.Clone(table.Bytes())
			return current, nil
		}})
		require.NoError(t, err)
	}
	packs, err := filepath.Glob(filepath.Join(bare, "objects/pack/*.idx"))
	require.NoError(t, err)
	id, differences := c.user("--git-dir="+bare, "rev-parse", "memory/autoloop:p.results.tsv"), 0
	for _, pack := range packs {
		for line := range strings.Lines(c.user("verify-pack", "-v", pack)) {
			if fields := strings.Fields(line); len(fields) == 7 && fields[0] == id { // with its depth and what it differs from
				differences++
			}
		}
	}
	assert.Equal(t, 1, differences)
}
