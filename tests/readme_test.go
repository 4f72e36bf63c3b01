package tests

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
