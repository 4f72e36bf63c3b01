package tests

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestActAnswersAProgramIssue(t *testing.T) {
	t.Parallel()
	r := newRunner(t, map[string]string{"value.txt": "10\n"}, "autoloop-validate.yml")
	r.program("---\nschedule: every 6x\n---\n`$(touch " + r.side + "/trap)` ${{ github.token }}\n::set-output name=x::y\n")
	opened := func(labels ...any) map[string]any {
		return map[string]any{"action": "opened", "issue": map[string]any{"number": 1, "title": "P ${{ github.token }} `id`", "labels": labels}}
	}
	run := r.trigger("issues", opened())
	require.Zero(t, run.code, run)
	assert.Empty(t, run.results(), "it is no program")

	run = r.trigger("issues", opened(map[string]any{"name": "autoloop-program"}))
	require.Zero(t, run.code, run)
	require.Len(t, r.checks(1), 1)
	assert.Contains(t, r.checks(1)[0], "every 6x")
	assert.NoFileExists(t, r.side+"/trap")
	for _, q := range wrote(r.seen()) {
		assert.Equal(t, "/repos/org/repo/issues/1/comments", q.path)
	}
}
