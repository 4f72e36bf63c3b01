package program_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/program"
)

func TestSharedOutput(t *testing.T) {
	t.Parallel()
	for script, shared := range map[string]bool{
		"sh bench.sh": true, `sh bench.sh > "$AUTOLOOP_RESULT"`: false, "sh bench.sh >\"${AUTOLOOP_RESULT}\"": false,
		`echo '{"m": 1}'`: true,
	} {
		p := program.Parse("p.md", []byte(
			"---\nmetric: m\nmetric_direction: lower\n---\n## Goal\nx\n## Target\n- `src/**`\n## Evaluation\n```sh\n"+
				script+"\n```\n"))
		assert.Equal(t, shared, strings.Contains(p.SharedOutput(), "may share that output"), script)
	}
}
