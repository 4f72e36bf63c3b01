package tests

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDoctorRunsEveryEvaluationTwice(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower", "9")
	a := w.binary("iterate", "doctor", "--local")
	assert.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "the evaluation runs and repeats itself: ")
	assert.NotContains(t, w.binary("iterate", "doctor", "--local", "--quick").stdout, "program p")
	w.write(".autoloop/programs/bad.md", "---\nmetric: m\nmetric_direction: lower\n---\n## Goal\nx\n## Target\n- `value.txt`\n## Evaluation\n```sh\nexit 3\n```\n")
	a = w.binary("iterate", "doctor", "--local")
	assert.Equal(t, 1, a.code)
	assert.Contains(t, a.stdout, "program bad")
	assert.Contains(t, a.stdout, "repeats itself", "the others are looked at too")
}
