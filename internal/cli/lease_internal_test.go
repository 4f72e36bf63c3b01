package cli

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/actions"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/process"
)

func TestEarlierAttemptIsGone(t *testing.T) {
	t.Parallel()
	environment := map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "77", "GITHUB_RUN_ATTEMPT": "2"}
	env := Env{Step: actions.Step{Getenv: func(name string) string { return environment[name] }}}
	for run, alive := range map[string]bool{
		"77/1": false, "77/2": true, "77/3": true, "78/1": true, "77/": true,
		"77/x": true,
	} {
		assert.Equal(t, alive, env.HolderAlive(history.Lease{Host: "elsewhere", ActionsRun: run}), run)
	}
	host, _ := os.Hostname()
	here := history.Lease{Host: host, PID: os.Getpid(), ProcessStart: process.Start(os.Getpid())}
	assert.True(t, env.HolderAlive(here))
	other := here
	other.PID, other.Namespace = 1<<30, "pid:[1]"
	assert.True(t, env.HolderAlive(other), "in another pid namespace it may be alive")
	other.ProcessStart = "1@another boot"
	assert.False(t, env.HolderAlive(other), "the machine was started since")
	here.ProcessStart = "another"
	assert.False(t, env.HolderAlive(here))
}
