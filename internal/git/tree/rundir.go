package tree

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/process"
)

const runDirPrefix = "autoloop-run-"

// NewRunDir makes a private directory for the trees of this run, and removes
// those that runs left behind whose process is gone. All names have the same
// length, so that what is measured today has no longer path than yesterday.
func NewRunDir() (string, error) { return NewRunDirIn(os.TempDir()) }

// NewRunDirIn makes one in a directory, for what must be on its file system.
func NewRunDirIn(above string) (string, error) {
	removeStale(above)
	dir := filepath.Join(above, fmt.Sprintf("%s%s-%08x", runDirPrefix, processName(os.Getpid()), rand.Uint32()))
	return dir, os.Mkdir(dir, 0o700)
}

// processName names a process for good: its number, and a digest of its start.
func processName(pid int) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(process.Start(pid)))
	return fmt.Sprintf("%010d-%08x", pid, sum.Sum32())
}

func removeStale(dir string) {
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
		if process.Start(pid) == "" || !strings.HasPrefix(name, processName(pid)+"-") {
			_ = RemoveAll(path) // another user's stays
		}
	}
}
