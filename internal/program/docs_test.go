package program

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// samples are two different values of every key, and what else the program
// needs for them to count.
var samples = map[string][3]string{
	"schedule": {"daily", "hourly"}, "metric-direction": {"higher", "lower"}, "target-metric": {"1", "2"},
	"metric":       {"a", "b"},
	"metric-range": {"[0, 1]", "[0, 2]"},
	"guardrails":   {"[{metric: a, direction: lower}]", "[{metric: b, direction: lower}]"},
	"evaluation":   {"skill", "tasks", "skill: s\ntasks: t"}, "skill": {"a", "b"},
	"evals": {"a.json", "b.json", "skill: s"}, "tasks": {"a", "b"},
	"evaluation-runs": {"1", "8"}, "min-improvement": {"1", "2%"}, "confidence": {"0.9", "0.99"},
	"min-composite-gain": {"0.1", "0.2", "tasks: t"}, "regression-composite-drop": {"0.1", "0.2", "tasks: t"},
	"cost-tolerance":               {"0.1", "0.2", "tasks: t"},
	"objective-drop-is-regression": {"true", "false", "tasks: t"},
	"net-loss-is-regression":       {"true", "false", "tasks: t"},
	"no-case-regression":           {"true", "false", "skill: s"}, "judge": {"api", "cli", "tasks: t"},
	"judge-model": {"a", "b", "tasks: t"},
	"plateau":     {"1", "2"}, "stop-after-reverts": {"1", "off"}, "timeout-minutes": {"1", "2"},
	"evaluation-timeout": {"1m", "2m"}, "jobs": {"1", "3"},
	"setup": {"a", "b"}, "start": {"a", "b"}, "share": {"[a]", "[b]"}, "env": {"[A]", "[B]"},
	"pass-config": {"[pip]", "[npm]"}, "network": {"true", "false"}, "isolation": {"required", "off"},
	"target": {"[a.go]", "[b.go]"}, "protect": {"[a.go]", "[b.go]"}, "agent": {"claude", "codex"},
	"agents": {"[claude]", "[codex]"}, "model": {"a", "b"},
	"agent-command": {"a", "b", "tasks: t"}, "executor": {"claude", "codex", "tasks: t"},
	"executor-command": {"a", "b", "tasks: t"},
	"candidates":       {"1", "2"}, "strategy": {"openevolve", "test-driven"},
	"budget": {"{usd: 1, per: day}", "{usd: 2, per: day}"}, "unknown-cost": {"allow", "pause"},
	"ci-gate": {"required", "off"}, "ci-wait": {"1m", "2m"}, "ci-timeout": {"1m", "2m"},
	"ci-workflow":          {"a.yml", "b.yml"},
	"trusted-associations": {"[OWNER]", "[MEMBER]"}, "comments": {"accepted", "all"},
	"pull-request": {"{labels: [a]}", "{labels: [b]}"},
}

// TestKeysThatChangeANumber holds for every key that its value is part of what
// identifies a measurement exactly when the table says so.
func TestKeysThatChangeANumber(t *testing.T) {
	meaning := func(front string) string {
		p := Parse("p.md", []byte("---\n"+front+"\n---\n## Evaluation\n```sh\necho 1\n```\n"))
		require.NoError(t, p.Err(), front)
		text, err := json.Marshal(p.Meaning())
		require.NoError(t, err)
		return string(text)
	}
	for _, key := range Keys() {
		sample, found := samples[normalKey(key.Name)]
		require.True(t, found, "give two values of the new key %s", key.Name)
		with := func(value string) string { return key.Name + ": " + value + "\n" + sample[2] }
		assert.Equal(t, key.ChangesNumber(), meaning(with(sample[0])) != meaning(with(sample[1])), key.Name)
	}
	assert.Len(t, samples, len(Keys()))
}

// TestMeaningKeepsItsForm holds the text whose hash old ledgers have.
func TestMeaningKeepsItsForm(t *testing.T) {
	text, err := json.Marshal(Parse("p.md",
		[]byte("---\nmetric: a\nmetric-range: [0, 1]\n---\n## Evaluation\n```sh\necho 1\n```\n")).Meaning())
	require.NoError(t, err)
	assert.JSONEq(t, `{"Script":"echo 1\n","Setup":"","Metric":"a","Direction":"higher","Kind":"metric",`+
		`"Range":{"Min":0,"Max":1},"Guardrails":null}`, string(text))
	text, err = json.Marshal(Parse("p.md", []byte("---\ntasks: t\nexecutor-command: run\n---\n")).Meaning())
	require.NoError(t, err)
	//nolint:testifylint // the order of the keys counts too: the text is hashed
	assert.Equal(t, `{"Script":"","Setup":"","Metric":"","Direction":"higher","Kind":"tasks","Range":null,`+
		`"Guardrails":null,"Suite":"t ","Judge":"auto ","Executor":" run",`+
		`"Thresholds":{"MinCompositeGain":0.01,"RegressionCompositeDrop":0.05,"CostTolerance":0,`+
		`"ObjectiveDropIsRegression":true,"NetLossIsRegression":false}}`, string(text))
}

// TestDefaultsAreThoseOfTheTable holds each default that is a single value
// against a program that does not give the key.
func TestDefaultsAreThoseOfTheTable(t *testing.T) {
	literal := regexp.MustCompile("^(?:`([^`]+)`|([0-9.]+))$")
	checked := 0
	for _, key := range Keys() {
		found := literal.FindStringSubmatch(key.Default)
		if found == nil || strings.Contains(key.Default, "evals.json") {
			continue
		}
		checked++
		bare := Parse("p.md", []byte("---\nsetup: a\n---\n"))
		given := Parse("p.md", []byte("---\nsetup: a\n"+key.Name+": "+found[1]+found[2]+"\n---\n"))
		given.DirectionGiven = false
		if given.MinImprovement.Value.Sign() == 0 {
			given.MinImprovement = bare.MinImprovement
		}
		require.NoError(t, given.Err(), key.Name)
		assert.Equal(t, bare, given, key.Name)
	}
	assert.Greater(t, checked, 15)
}

func TestExamplesOfTheDocsAreGood(t *testing.T) {
	for _, file := range []string{"../../docs/howto/write-a-program.md", "../../README.md"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		examples := regexp.MustCompile("(?s)\n````markdown(?: [^\n]*)?\n(.*?)\n````\n").FindAllSubmatch(text, -1)
		require.NotEmpty(t, examples, file)
		for _, example := range examples {
			p := Parse("speed.md", example[1])
			require.NoError(t, p.Err())
			assert.Empty(t, p.Warnings())
			assert.Empty(t, p.Missing())
			assert.False(t, p.Unconfigured)
		}
	}
}
