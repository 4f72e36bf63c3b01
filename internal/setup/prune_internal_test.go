package setup

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLeftoversSayWhatBecameOfThem(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "nothing is left of programs that are gone\n", Leftovers{}.String())
	assert.Equal(t, "a: removed: state, branch autoloop/a, issue #3, pull request #4\n"+
		"b: kept (run 7 may be working on it): state\nc: left: state\n", Leftovers{
		{Program: "a", Branch: "c0ffee", Issue: 3, PR: 4, Removed: true, own: true},
		{Program: "b", Issue: 5, Kept: "run 7 may be working on it"},
		{Program: "c"},
	}.String())
}
