package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRunsAreAutoOneOrEnough(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"auto": 0, "AUTO": 0, "1": 1, "5": 5, "1000": 1000, "2": -1, "1001": -1,
		"0": -1, "-1": -1, "many": -1, "": -1,
	} {
		runs, err := parseRuns(text, 5)
		if want < 0 {
			require.ErrorContains(t, err, `--runs "`+text+`": `, text)
			continue
		}
		require.NoError(t, err, text)
		assert.Equal(t, want, runs, text)
	}
}
