package memory_test

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
