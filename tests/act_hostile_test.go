package tests

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// evil is text that a shell, a runner or an expression would act on. $TRAP is a
// file that must never be there.
const evil = "x'\"; touch $TRAP; $(touch $TRAP) `touch $TRAP` && ${{ github.token }} ${{ secrets.GITHUB_TOKEN }} | <b>\n" +
	"::set-output name=has-work::evil\n::set-env name=PATH::/evil\n::add-mask::value\n" +
	"::error file=evil.go,line=1::evil\n" +
	"::add-path::/evil\n##[set-output name=selected]evil\n::stop-commands::evil\nselected=evil\n"

// obeyed fails when the runner took text of others for a command; the lines of a
// command of ours that says such text are left out.
func (w workflowRun) obeyed(t *testing.T, ours ...string) {
	t.Helper()
	for _, line := range w.lines {
		if slices.ContainsFunc(ours, func(own string) bool { return strings.Contains(line.Msg, own) }) {
			continue
		}
		assert.NotContains(t, line.Arg, "evil", "%s was obeyed: %s", line.Command, line.Msg)
		assert.NotEqual(t, "add-mask", line.Command)
		assert.NotContains(t, line.KVPairs["file"], "evil")
	}
}
