package tests

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestScenariosOnTheEmulator plays what people, CI and the binaries do on a
// GitHub that others wrote.
func TestScenariosOnTheEmulator(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.play(t, onEmulator)
		})
	}
}

var reactions = regexp.MustCompile(`(?m)^\d+ reactions\n`)

// TestALifeIsTheSameOnBothServers plays the whole life with CI on both, and
// compares them after every run.
func TestALifeIsTheSameOnBothServers(t *testing.T) {
	t.Parallel()
	files, tries := map[string]string{"value.txt": "10\n"}, []string{"8", "9", "fail", "7", "6", "1"}
	theirs := onEmulator(t, files, tries...)
	ours := onOurServer(t, files, tries...)
	for _, s := range []*scene{theirs, ours} {
		s.born()
	}
	for number, before := range chapters() {
		for _, s := range []*scene{theirs, ours} {
			before(s)
			s.one()
		}
		place := theirs.place()
		// The emulator has no reactions.
		require.Equal(t, reactions.ReplaceAllString(ours.place(), ""), place, "run %d", number+1)
		assert.Equal(t, number == 3, strings.Contains(place, "fix CI (1)"))
	}
	assert.Contains(t, theirs.place(), "| Completed | true |")
}
