package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDemo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	dir := filepath.Join(w.side, "demo")
	a := w.binary("iterate", "demo", "--dir", dir)
	require.Zero(t, a.code, a.stderr)
	lines := strings.Split(strings.TrimSuffix(a.stdout, "\n"), "\n")
	require.Len(t, lines, 14, a.stdout)
	for i, want := range map[int]string{
		2: `^as it is: 3\d\d minutes$`,
		3: ` 1 kept     Call at the hospital after the station: 2\d\d minutes beside 3\d\d`,
		4: `^ +station$`, 5: `^ +\+hospital$`, 6: `^ +castle$`, 7: `^ +-hospital$`,
		8:  ` 2 worse    Call at the castle after the station: 3\d\d minutes beside 2\d\d`,
		9:  ` 3 refused  Ride twice as fast: "round/ride.sh": is protected`,
		10: `^ 4 noise    Ride the other way round: 2\d\d minutes beside 2\d\d is no gain$`,
		11: `^minutes: 3\d\d \S+ 2\d\d \(the shortest trip: 197\)$`, 12: "^look: ", 13: "^yours: ",
	} {
		assert.Regexp(t, want, lines[i])
	}
	for _, part := range []string{"iterate init --local", "rm -r " + dir, filepath.Join(dir, "autoloop.html")} {
		assert.Contains(t, a.stdout, part)
	}
	assert.NotContains(t, a.stdout, "kept: Ride twice")
	text, err := os.ReadFile(filepath.Join(dir, "round", "ride.sh"))
	require.NoError(t, err)
	assert.NotContains(t, string(text), "0.5 *", "the cheat is nowhere")
	w.dir = dir
	for _, command := range regexp.MustCompile(`(?m)(git -C .*)$`).FindAllStringSubmatch(a.stdout, -1) {
		w.run(dir, strings.Fields(command[1])...)
	}
	assert.Contains(t, w.read("autoloop.html"), "kept / tried</dt><dd>1 / 4<")
	assert.Empty(t, w.git("status", "--porcelain"))
	assert.Equal(t, 2, w.binary("iterate", "demo", "--dir", dir).code, "a directory with files is not written into")
}

// TestDemoOpensItsPage tries a machine with a browser and one without.
func TestDemoOpensItsPage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("another command opens a browser")
	}
	t.Parallel()
	w := newWorld(t, nil)
	dir := filepath.Join(w.side, "demo")
	tools := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(tools, "xdg-open"),
		[]byte("#!/bin/sh\necho \"$@\" > \"$SIDE/opened\"\n"), 0o755)) //nolint:gosec // it is run
	for i := range w.env {
		if value, found := strings.CutPrefix(w.env[i], "PATH="); found {
			w.env[i] = "PATH=" + tools + string(os.PathListSeparator) + value
		}
	}
	a := w.binary("iterate", "demo", "-n", "1", "--dir", dir, "--open")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, filepath.Join(dir, "autoloop.html")+"\n", w.beside("opened"))
}

// TestReadmeCommands runs the shell commands of the README's walk through, in
// its order.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(data), "## A program")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "## On GitHub, in one step")
	fences := regexp.MustCompile("(?s)\n```bash\n(.*?)```").FindAllStringSubmatch(section, -1)
	w := newWorld(t, map[string]string{"README.md": "mine\n"})
	for i := range w.env {
		if strings.HasPrefix(w.env[i], "PATH=") {
			w.env[i] = "PATH=" + binaries + string(os.PathListSeparator) + strings.TrimPrefix(w.env[i], "PATH=")
		}
	}
	ran := 0
	for _, fence := range fences {
		for line := range strings.Lines(fence[1]) {
			line = strings.TrimSpace(line)
			line, _, _ = strings.Cut(line, "  #")
			if !strings.HasPrefix(line, "scheduler") && !strings.HasPrefix(line, "iterate") &&
				!strings.HasPrefix(line, "git ") {
				continue // the script inside of the program that is shown
			}
			w.run(w.dir, "sh", "-c", line)
			ran++
		}
	}
	assert.Equal(t, 6, ran)
	assert.Contains(t, w.git("branch", "--list", "autoloop/speed"), "autoloop/speed", "five iterations keep something")
}
