// Package scratch keeps the temporary files of tests in memory. They make and remove
// files by the thousand, and some file systems (ext4) look at all that were removed in
// the last minutes before they make one: that is half of the time of such tests.
package scratch

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

const (
	// Memory is a file system in memory where the system has one.
	Memory = "/dev/shm"
	// Disk is for what cannot be below Memory: an isolated command has a /dev of its own.
	Disk = "/tmp"
)

// Use puts TMPDIR in memory. Where TMPDIR says another place, files stay where they are.
func Use() {
	if os.Getenv("TMPDIR") == "" && fit() {
		if err := os.Setenv("TMPDIR", Memory); err != nil {
			panic(err)
		}
	}
}

// Run runs the tests of a package with their temporary files in a directory of their own,
// in memory, and returns the exit code. What processes leave there that tests kill, and
// what tests share, is removed at the end.
func Run(m *testing.M) int {
	Use()
	Overlap()
	GrowHeap()
	dir, err := os.MkdirTemp("", "autoloop-tests-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o711); err != nil { // other users reach what is made for them in it
		panic(err)
	}
	if err := os.Setenv("TMPDIR", dir); err != nil {
		panic(err)
	}
	return m.Run()
}

// OnDisk is a directory on disk, for what isolated commands see.
func OnDisk(t testing.TB) string {
	t.Helper()
	if !strings.HasPrefix(os.TempDir(), Memory) {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(Disk, "autoloop-on-disk-") //nolint:usetesting // in another place
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Overlap runs twice as many tests at once as there are cores, unless the command line says
// how many: most of these tests wait for other processes most of their time.
func Overlap() {
	const name = "test.parallel"
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if given {
		return
	}
	if err := flag.Set(name, strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
}

// GrowHeap lets the heap grow to five times of what is in use before it is collected,
// unless GOGC says otherwise: many short commands run in the process of the tests, and
// collecting after each few megabytes is an eighth of their time.
func GrowHeap() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
