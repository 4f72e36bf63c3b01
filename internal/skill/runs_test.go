package skill

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIterationRuns(t *testing.T) {
	t.Parallel()
	run := func(dir, side string, counts bool) string {
		return fmt.Sprintf(`{"dir": %q, "side": %q, "stage": "pairs", "score": 0.5, "counts": %v}`, dir, side, counts)
	}
	list := func(runs ...string) string { return `{"schema": 1, "runs": [` + strings.Join(runs, ",") + `]}` }
	for name, c := range map[string]struct {
		text  string // of runs.json, "-" for none
		runs  string
		fails string
	}{
		"run once": {"-", ".", ""},
		"those that count": {list(run(".", "candidate", false), run("run-2", "candidate", true),
			run("incumbent-1", "incumbent", true), run("run-10", "candidate", true)), "run-2 run-10", ""},
		"none counts": {list(run(".", "candidate", false), run("incumbent-1", "incumbent", true)), ".", ""},
		"no runs":     {list(), ".", ""},
		"fields of later": {`{"schema": 1, "later": {}, "runs": [{"dir": "run-2", "side": "candidate", "counts": ` +
			`true, "later": []}]}`, "run-2", ""},
		"upwards": {
			list(run("../iteration-0", "candidate", true)), "",
			`names "../iteration-0", which is no run`,
		},
		"upwards, not used": {
			list(run(".", "candidate", true), run("..", "incumbent", false)), "",
			"is no run of this iteration",
		},
		"the root":           {list(run("/etc", "candidate", true)), "", "is no run of this iteration"},
		"a run and more":     {list(run("run-2\n", "candidate", true)), "", "is no run of this iteration"},
		"too large a number": {list(run("run-123456", "candidate", true)), "", "is no run of this iteration"},
		"cut off": {
			list(run(".", "candidate", true))[:30], "",
			"off; remove it, and the first run alone",
		},
		"empty":          {"", "", "no list of runs that this program reads"},
		"a later schema": {`{"schema": 2, "runs": []}`, "", "no list of runs that this program reads"},
		"a score that is not": {
			`{"schema": 1, "runs": [{"dir": ".", "score": "high"}]}`, "",
			"no list of runs that this program reads",
		},
		"too large": {list() + strings.Repeat(" ", 4<<20), "", "is no file of at most 4194304 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if c.text != "-" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, RunsFile), []byte(c.text), 0o600))
			}
			runs, err := IterationRuns(dir)
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				assert.Contains(t, err.Error(), RunsFile)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, strings.Fields(c.runs), runs)
		})
	}
	for name, put := range map[string]func(file string) error{
		"a directory":      func(file string) error { return os.Mkdir(file, 0o755) },
		"a link elsewhere": func(file string) error { return os.Symlink("/dev/zero", file) },
	} {
		dir := t.TempDir()
		require.NoError(t, put(filepath.Join(dir, RunsFile)), name)
		_, err := IterationRuns(dir)
		require.ErrorContains(t, err, "is no file of at most", name)
	}
}
