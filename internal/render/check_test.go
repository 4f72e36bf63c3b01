package render_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/render"
)

func TestChecksQuoteWhatTheySay(t *testing.T) {
	t.Parallel()
	report := "p: ok\n  evaluation  echo ``` @octocat\n````\n<!-- AUTOLOOP:STATUS -->\u202e\x1b[31m\r\n"
	for name, c := range map[string]struct {
		stranger string
		ready    bool
		says     string
	}{
		"ready":    {"", true, "**`p' @octocat` is ready**"},
		"wrong":    {"", false, "**`p' @octocat` does not run yet.**"},
		"stranger": {"@mallory <b> is NONE", true, "does not run**: @\u200bmallory &lt;b&gt;"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := render.Check("p` @octocat", report, c.stranger, c.ready)
			assert.True(t, strings.HasPrefix(body, render.CheckMark))
			assert.Contains(t, strings.ReplaceAll(body, "`p' @\u200boctocat`", "`p' @octocat`"), c.says)
			assert.Equal(t, 2, strings.Count(body, "`````"), "the fence is longer than any in the text")
			assert.NotContains(t, body, "\u202e")
			assert.NotContains(t, body, "\x1b")
		})
	}
	assert.Less(t, len(render.Check("p", strings.Repeat("ä\n", 1<<20), "", false)), 65536,
		"GitHub takes no longer comment")
}
