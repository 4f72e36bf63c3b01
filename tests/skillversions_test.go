package tests

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// TestSkillCandidateThatIsExchanged has an improver that puts a link to the
// original where its candidate was.
func TestSkillCandidateThatIsExchanged(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	for name, exchange := range map[string]string{
		"for a link to the original": `d=$PWD; cd ..; rm -rf "$d"; ln -s "$SKILL" "$d"`,
		"for a link to a better copy": `d=$PWD; cp -a "$d" "$SIDE/copy"; echo beta >> "$SIDE/copy/SKILL.md"; cd ..; ` +
			`rm -rf "$d"; ln -s "$SIDE/copy" "$d"`,
		"for a file":  `d=$PWD; cd ..; rm -rf "$d"; echo beta > "$d"`,
		"for nothing": `d=$PWD; cd ..; rm -rf "$d"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := skillWorld(t, "", `if test "$AUTOLOOP_ITERATION" = 1; then `+exchange+
				`; else echo beta >> SKILL.md; fi`)
			w.env = append(w.env, "SKILL="+filepath.Join(w.dir, "s"))
			before := w.state("s")
			end := w.skillEnd("-n", "2", "--settings", w.settings("env: [SIDE, SKILL]"))
			require.Len(t, end.Iterations, 3)
			assert.Equal(t, "reverted", end.Iterations[1].Action)
			assert.Nil(t, end.Iterations[1].Score)
			assert.Equal(t, "kept", end.Iterations[2].Action, end.Iterations[2].Changelog)
			assert.Equal(t, before, w.state("s"), "nothing is written through the link")
		})
	}
}
