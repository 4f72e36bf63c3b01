package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestShardsShareThePrograms(t *testing.T) {
	d := newDesk(t).repository()
	for _, name := range []string{"a", "b", "c", "d"} {
		require.Zero(t, d.iterate("init", name).code)
	}
	var all []any
	for _, shard := range []string{"1/2", "2/2"} {
		require.Zero(t, d.run("--max", "9", "--shard", shard).code)
		matrix, ok := d.plan()["matrix"].(map[string]any)
		require.True(t, ok)
		programs, ok := matrix["program"].([]any)
		require.True(t, ok)
		all = append(all, programs...)
	}
	assert.ElementsMatch(t, []any{"a", "b", "c", "d"}, all)
	for _, wrong := range []string{"0/2", "3/2", "1", "x/2", "1/0"} {
		assert.Equal(t, 2, d.run("--shard", wrong).code, wrong)
	}
}
