package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/cure"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(args ...string) answer{"scheduler": newDesk(t).run, "iterate": newShop(t).iterate} {
		page := run("explain", "al0301")
		require.Equal(t, 0, page.code, page.errors)
		assert.True(t, strings.HasPrefix(page.out, "# AL0301: The remote refused a push\n\n"), page.out)
		assert.Contains(t, page.out, "## What to do")

		list := run("explain")
		require.Equal(t, 0, list.code)
		var entries []cure.Entry
		require.NoError(t, json.Unmarshal([]byte(run("explain", "--json").out), &entries))
		assert.Equal(t, cure.All(), entries)
		for _, entry := range entries {
			assert.Contains(t, list.out, string(entry.Code)+"  "+entry.Title)
		}
		var one cure.Entry
		require.NoError(t, json.Unmarshal([]byte(run("explain", "AL0704", "--json").out), &one))
		assert.Equal(t, cure.RateLimit, one.Code)

		wrong := run("explain", "AL301")
		assert.Equal(t, 2, wrong.code)
		assert.Equal(t, name+": there is no error code \"AL301\"; did you mean AL0301?\n", wrong.errors)
		assert.Contains(t, run("explain", "nonsense").errors, "`iterate explain` lists them")
		assert.Contains(t, run("__complete", "explain", "AL0").out, "AL0602\tA job works without a recorded start\n")
	}
}
