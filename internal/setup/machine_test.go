package setup_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/setup"
)

func TestWhetherAgentsAreSignedIn(t *testing.T) {
	t.Parallel()
	bin, home, empty := t.TempDir(), t.TempDir(), t.TempDir()
	for _, name := range []string{"cursor-agent", "cursor-agent.exe"} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o755)) //nolint:gosec // it is a program
	}
	file := filepath.Join(home, ".config", "cursor", "auth.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte("{}"), 0o600))
	for name, c := range map[string]struct {
		environ  []string
		signedIn bool
	}{
		"key":     {[]string{"PATH=" + bin, "HOME=" + empty, "CURSOR_API_KEY=x"}, true},
		"login":   {[]string{"PATH=" + bin, "HOME=" + home}, true},
		"neither": {[]string{"PATH=" + bin, "HOME=" + empty}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findings := setup.Agents(agent.NewRegistry(agent.CommandLines(commandline.All(), process.NewRunner(), c.environ, time.Now)...), c.environ)
			last := findings[len(findings)-1]
			if c.signedIn {
				require.Len(t, findings, 1, "what is not installed is no finding")
				assert.Contains(t, last.Message, "cursor (signed in)")
				return
			}
			require.NotEmpty(t, findings)
			assert.Equal(t, setup.Warning, findings[0].Level)
			assert.Contains(t, findings[0].Message, "cursor is installed and not signed in")
			assert.Contains(t, findings[0].Fix, "CURSOR_API_KEY")
		})
	}
}
