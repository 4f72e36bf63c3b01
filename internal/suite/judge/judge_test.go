package judge_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/agent/models/client"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/judge"
)

func TestMain(m *testing.M) {
	if handled, code := process.Supervise(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

const secret = "sk-very-secret-key"

func masker() process.Masker { return process.NewMasker(nil, secret) }

func sample() judge.Work {
	return judge.Work{
		Title: "Rename", Prompt: "rename it", Criteria: "is it renamed?", Diff: "+new\n", Words: "Renamed it.",
		Checks: []format.CheckResult{
			{Kind: format.FileExists, Name: "a", Passed: true},
			{Kind: format.CommandCheck, Name: "make", Detail: "exit code 2"},
		},
	}
}

// stub puts a program called claude into a directory and returns the
// environment that finds it.
func stub(t *testing.T, script string) (claude judge.CommandLine, dir string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "claude"), []byte("#!/bin/sh\ncd_to="+dir+"\n"+script),
		0o755)) //nolint:gosec // it is run
	work := filepath.Join(dir, "work")
	require.NoError(t, os.Mkdir(work, 0o700))
	return judge.CommandLine{
		Agent: commandline.All().Asked(), Runner: process.NewRunner(), Dir: work,
		Env: []string{"PATH=" + dir + ":" + os.Getenv("PATH")}, Model: "opus",
	}, dir
}

func TestChoose(t *testing.T) {
	t.Parallel()
	there, _ := stub(t, "")
	gone := judge.CommandLine{
		Agent: commandline.All().Asked(), Runner: process.NewRunner(), Dir: there.Dir,
		Env: []string{"PATH=/nowhere"},
	}
	for name, test := range map[string]struct {
		mode     judge.Mode
		env      map[string]string
		model    string
		claude   judge.CommandLine
		judge    string
		none, is string
	}{
		"Anthropic's key first": {
			env: map[string]string{"ANTHROPIC_API_KEY": "k", "GITHUB_TOKEN": "t"}, claude: there,
			judge: "claude-sonnet-4-5 at https://api.anthropic.com",
		},
		"a model of one's own": {
			env: map[string]string{"ANTHROPIC_API_KEY": "k"}, model: "m", claude: there,
			judge: "m at https://api.anthropic.com",
		},
		"GitHub Models": {
			env: map[string]string{"GITHUB_TOKEN": "t"}, claude: there,
			judge: "openai/gpt-4.1 at https://models.github.ai/inference",
		},
		"no key, claude": {claude: there, judge: "claude"},
		"endpoint without name": {
			env: map[string]string{"AUTOLOOP_MODELS_URL": "http://127.0.0.1:1/v1"}, claude: gone,
			none: "name the model with `judge-model`",
		},
		"nothing": {
			claude: gone,
			none:   "and for the API: set ANTHROPIC_API_KEY",
		},
		"off":               {mode: judge.Off, env: map[string]string{"ANTHROPIC_API_KEY": "k"}, claude: there},
		"api without a key": {mode: judge.ByAPI, claude: there, is: "judge: api: set ANTHROPIC_API_KEY"},
		"cli without claude": {
			mode: judge.ByCLI, env: map[string]string{"ANTHROPIC_API_KEY": "k"}, claude: gone,
			is: "claude is not in PATH",
		},
		"cli beside a key": {
			mode: judge.ByCLI, env: map[string]string{"ANTHROPIC_API_KEY": "k"}, model: "opus",
			claude: there, judge: "claude with opus",
		},
		"misspelt": {mode: "apo", claude: there, is: "give auto, api, cli or off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, none, err := judge.Choose(judge.Setting{
				Mode: test.mode, Model: test.model, Getenv: func(name string) string { return test.env[name] },
				Complete: (&client.Client{}).Complete, CLI: test.claude,
			})
			if test.is != "" {
				require.ErrorContains(t, err, test.is)
				return
			}
			require.NoError(t, err)
			assert.Contains(t, none, test.none)
			if test.judge == "" {
				assert.Nil(t, j)
				return
			}
			require.NotNil(t, j)
			assert.Equal(t, test.judge, j.Name())
		})
	}
}
