package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/cli"
	"github.com/org/autoloop/tests/golden"
)

// TestDoctorSaysWhoIsNotSignedIn: an agent that is installed lacks something else
// than one that is not.
func TestDoctorSaysWhoIsNotSignedIn(t *testing.T) {
	t.Parallel()
	s := newRepository(t)
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "codex"), []byte("#!/bin/sh\necho codex-cli 0.169.0\n"),
		0o755)) //nolint:gosec // it is a program
	s.more = []string{"PATH=" + bin + ":/usr/bin:/bin"}
	state := func() map[string]string {
		var list []struct{ Subject, Level, Message string }
		require.NoError(t, json.Unmarshal([]byte(s.iterate("doctor", "--quick", "--json").out), &list))
		states := map[string]string{}
		for _, one := range list {
			states[one.Subject] = one.Level + ": " + one.Message
		}
		return states
	}
	got := state()
	golden.Row(t, "warning: installed and not", got["agent codex"])
	golden.Row(t, "absent: gemini is not", got["agent gemini"])
	assert.Contains(t, got["agent command"], "ok: built in; ")
	s.more = append(s.more, "OPENAI_API_KEY=x")
	assert.Equal(t, "ok: ready 0.169.0", state()["agent codex"])
}

// TestModelsWithoutAModelIsRefused before an iteration begins.
func TestModelsWithoutAModelIsRefused(t *testing.T) {
	t.Parallel()
	s := repositoryOf(t, "agent: models\nisolation: off\n")
	s.more = []string{"AUTOLOOP_MODELS_URL=http://127.0.0.1:9/v1", "AUTOLOOP_MODELS_KEY=k"}
	asked := func(context.Context, models.Endpoint, models.Request) (models.Response, error) {
		return models.Response{}, errors.New("it was asked")
	}
	a := s.command(cli.Iterate(asked, ""), "--program", "p")
	assert.Equal(t, 2, a.code, a.out)
	golden.Line(t, a.errors)
	assert.NotContains(t, s.git("branch", "--all"), "memory/", "nothing was begun")
}
