package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNewProgramRunsAsItStands(t *testing.T) {
	d := newDesk(t).repository()
	a := d.iterate("init", "speed-2")
	require.Zero(t, a.code, a.errors)
	assert.Contains(t, a.out, "create  .autoloop/programs/speed-2.md")
	assert.Contains(t, a.out, "iterate --program speed-2 -n 5\n")

	a = d.iterate("validate")
	assert.Zero(t, a.code, a.out)
	assert.Equal(t, ".autoloop/programs/speed-2.md: ok\n  warning: autoloop-speed-2/evaluate.sh, "+
		"autoloop-speed-2/settings.conf are not committed, so iterations do not see them\n  schedule    every 6h\n"+
		"  metric      error, lower is better, completed at 0.01\n"+
		"  may change  autoloop-speed-2/settings.conf (line 16)\n"+
		"  never       autoloop-speed-2/evaluate.sh (line 20)\n"+
		"  evaluation  sh autoloop-speed-2/evaluate.sh > \"$AUTOLOOP_RESULT\"\n", a.out)

	a = d.run("--program", "speed-2")
	assert.Zero(t, a.code, a.errors)
	assert.Equal(t, "speed-2", d.plan()["selected"])

	evaluation := exec.CommandContext(t.Context(), "sh", "autoloop-speed-2/evaluate.sh")
	evaluation.Dir = d.root
	evaluation.Env = append(os.Environ(), "LC_ALL=de_DE.UTF-8")
	out, err := evaluation.Output()
	require.NoError(t, err)
	assert.Equal(t, "{\"error\": 43.000000}\n", string(out))
}

func TestNewProgramOverwritesNothing(t *testing.T) {
	for _, there := range []string{
		".autoloop/programs/speed.md", ".autoloop/programs/speed/program.md",
		"autoloop-speed/settings.conf", "autoloop-speed/evaluate.sh",
	} {
		d := newDesk(t).repository()
		file := filepath.Join(d.root, there)
		d.write(file, "mine\n")
		a := d.iterate("init", "speed")
		assert.Equal(t, 2, a.code, there)
		assert.Contains(t, a.errors, "exists already; choose another name")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, "mine\n", string(text))
		require.NoError(t, os.RemoveAll(filepath.Join(d.root, ".git")))
		found, err := filepath.Glob(filepath.Join(d.root, "*", "*"))
		require.NoError(t, err)
		assert.Len(t, found, 1, "nothing else was written")
	}
}

func TestNewProgramElsewhere(t *testing.T) {
	d := newDesk(t).repository()
	a := d.iterate("init", "speed", "--programs", "progs")
	require.Zero(t, a.code, a.errors)
	assert.FileExists(t, filepath.Join(d.root, "progs/speed.md"))
	assert.Contains(t, a.out, "iterate --program speed -n 5 --programs progs\n")
	assert.Zero(t, d.iterate("validate", "--programs", "progs").code)
}

func TestNewProgramMisuse(t *testing.T) {
	d := newDesk(t).repository()
	for _, args := range [][]string{
		{"init", "a", "b"},
		{"init", "My Program"},
		{"init", ""},
		{"init", "../x"},
		{"init", "a.lock"},
	} {
		a := d.iterate(args...)
		assert.Equal(t, 2, a.code, args)
		assert.NotEmpty(t, a.errors)
	}
	assert.Contains(t, d.iterate("init", "My Program").errors, `rename it to "my-program"`)
	entries, err := os.ReadDir(d.root)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "there is .git alone")
}
