package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/cli"
)

func TestCompletion(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, name := range []string{"speed", "size"} {
		s.file(".autoloop/programs/"+name+".md", "---\n"+changing+"---\n"+goodTarget+evaluation)
	}
	s.commit()
	for typed, want := range map[string]string{
		"iterate log ": "size speed", "iterate apply sp": "speed", "iterate replay ": "size speed", "iterate pause ": "size speed", "iterate page ": "size speed",
		"iterate --program ": "size speed", "iterate doctor --evaluation ": "size speed", "iterate doctor ": "size speed", "scheduler validate ": "size speed", "scheduler --program sp": "speed",
		"iterate --agent c": "command claude codex copilot cursor", "iterate --fail-on ": "error", "iterate init --kind go-b": "go-benchmark go-binary-size",
		"iterate log speed ": "",
	} {
		words := strings.Split(typed, " ")
		run := s.iterate
		if words[0] == "scheduler" {
			run = s.scheduler
		}
		a := run(append([]string{"__complete"}, words[1:]...)...)
		require.Zero(t, a.code, a.errors)
		var offered []string
		for _, line := range strings.Split(strings.TrimSpace(a.out), "\n") {
			if last := words[len(words)-1]; !strings.HasPrefix(line, ":") && strings.HasPrefix(line, last) {
				offered = append(offered, line)
			}
		}
		assert.ElementsMatch(t, strings.Fields(want), offered, typed)
	}
}

// TestCompletionOfEveryShell is what a release has in its archive.
func TestCompletionOfEveryShell(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	dir := t.TempDir()
	require.Zero(t, cli.Manual(t.Context(), cli.Env{Args: []string{dir, "1", "2026-01-02T15:04:05Z"}, Stderr: os.Stderr, Getenv: os.Getenv}))
	for shell, file := range map[string]string{
		"bash": "bash-completion/completions/%", "zsh": "zsh/site-functions/_%", "fish": "fish/vendor_completions.d/%.fish", "powershell": "powershell/%.ps1",
	} {
		for name, run := range map[string]func(...string) answer{"iterate": s.iterate, "scheduler": s.scheduler} {
			released, err := os.ReadFile(filepath.Join(dir, "share", strings.ReplaceAll(file, "%", name)))
			require.NoError(t, err)
			a := run("completion", shell)
			require.Zero(t, a.code, a.errors)
			assert.Equal(t, string(released), a.out, shell)
			assert.NotEqual(t, a.out, run("completion", shell, "--no-descriptions").out, shell)
		}
	}
	a := s.iterate("completion", "tcsh")
	assert.Equal(t, 2, a.code)
	assert.Equal(t, "iterate: \"tcsh\" is no shell that can be completed; give one of bash, fish, powershell, zsh\n", a.errors)
}

func TestFlagsThatAreNoNumbers(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for typed, want := range map[string]string{
		"-n x":              "iterate: --iterations x: give a whole number (see `iterate --help`)\n",
		"watch --port 1.5":  "iterate: --port 1.5: give a whole number (see",
		"--dry-run=perhaps": "iterate: --dry-run perhaps: give true or false, or leave the value out (see",
		"steer --issue " + strings.Repeat("9", 30): "iterate: --issue " + strings.Repeat("9", 30) + ": the number is too large (see",
	} {
		a := s.iterate(strings.Split(typed, " ")...)
		assert.Equal(t, 2, a.code, typed)
		assert.True(t, strings.HasPrefix(a.errors, want), a.errors)
	}
}

// TestAgentsSaysWhoIsNotLoggedIn: an agent that is installed lacks something else
// than one that is not.
func TestAgentsSaysWhoIsNotLoggedIn(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "codex"), []byte("#!/bin/sh\necho codex-cli 0.169.0\n"), 0o755)) //nolint:gosec // it is a program
	s.more = []string{"PATH=" + bin + ":/usr/bin:/bin"}
	state := func() map[string]string {
		var list []struct{ Name, State string }
		require.NoError(t, json.Unmarshal([]byte(s.iterate("agents", "--json").out), &list))
		states := map[string]string{}
		for _, one := range list {
			states[one.Name] = one.State
		}
		return states
	}
	got := state()
	assert.Equal(t, "not-logged-in", got["codex"])
	assert.Equal(t, "missing", got["gemini"])
	assert.Equal(t, "program", got["command"])
	assert.Contains(t, s.iterate("agents").out, "not logged in")
	s.more = append(s.more, "OPENAI_API_KEY=x")
	assert.Equal(t, "ready", state()["codex"])
}

// TestModelsWithoutAModelIsRefused before an iteration begins.
func TestModelsWithoutAModelIsRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.file(".autoloop/programs/p.md", "---\nagent: models\nisolation: off\n---\n"+goodTarget+evaluation)
	s.file("value.txt", "5\n")
	s.commit()
	s.more = []string{"AUTOLOOP_MODELS_URL=http://127.0.0.1:9/v1", "AUTOLOOP_MODELS_KEY=k"}
	asked := func(context.Context, models.Endpoint, models.Request) (models.Response, error) {
		return models.Response{}, errors.New("it was asked")
	}
	a := s.command(cli.Iterate(asked, ""), "--program", "p")
	assert.Equal(t, 2, a.code, a.out)
	assert.Equal(t, "iterate: agent models needs the name of a model: give --model, or `model:` in the program file\n", a.errors)
	assert.NotContains(t, s.git("branch", "--all"), "memory/", "nothing was begun")
}
