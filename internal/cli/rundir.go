package cli

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/git/tree"
)

const runDirPrefix = "autoloop-run-"

// newRunDir makes a private directory for the trees of this run, and removes
// those that runs left behind whose process is gone. All names have the same
// length, so that what is measured today has no longer path than yesterday.
func newRunDir() (string, error) { return newRunDirIn(os.TempDir()) }

// newRunDirIn makes one in a directory, for what must be on its file system.
func newRunDirIn(above string) (string, error) {
	sweep(above)
	dir := filepath.Join(above, fmt.Sprintf("%s%s-%08x", runDirPrefix, owner(os.Getpid()), rand.Uint32()))
	return dir, os.Mkdir(dir, 0o700)
}

// owner names a process for good: its number, and a digest of its start.
func owner(pid int) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(processStart(pid)))
	return fmt.Sprintf("%010d-%08x", pid, sum.Sum32())
}

func sweep(dir string) {
	left, err := filepath.Glob(filepath.Join(dir, runDirPrefix+"*"))
	if err != nil {
		return
	}
	for _, path := range left {
		name := strings.TrimPrefix(filepath.Base(path), runDirPrefix)
		var pid int
		if _, err := fmt.Sscanf(name, "%d-", &pid); err != nil {
			continue
		}
		if processStart(pid) == "" || !strings.HasPrefix(name, owner(pid)+"-") {
			_ = tree.RemoveAll(path) // another user's stays
		}
	}
}
