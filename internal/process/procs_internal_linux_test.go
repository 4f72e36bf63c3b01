package process

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestGroupsAreEndedOnce: ending the group of each of thousands of children anew took
// the supervisor minutes.
func TestGroupsAreEndedOnce(t *testing.T) {
	t.Parallel()
	var bomb []proc
	for pid := range 5000 {
		bomb = append(bomb, proc{pid: pid, group: 7 + pid%2})
	}
	assert.Equal(t, []int{3, 7, 8}, groupsOf(append(bomb, proc{pid: 6000}, proc{pid: 6001, group: 3})),
		"and no group 0")
	assert.Empty(t, groupsOf(nil))
}
