package gate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/gate"
	"github.com/org/autoloop/internal/score"
)

func TestLostCases(t *testing.T) {
	t.Parallel()
	one, half := score.FromInt(1), score.MustValue("0.5")
	before := map[string]score.Value{"case.1": one, "case.10": one, "case.2": one, "case.3": half, "case.4": one, "size": one}
	now := map[string]score.Value{"case.1": half, "case.10": half, "case.3": half, "case.4": one}
	assert.Equal(t, []string{"1", "2", "10"}, gate.LostCases(before, now))
	assert.Empty(t, gate.LostCases(nil, now))
	assert.Empty(t, gate.LostCases(before, before))
}
