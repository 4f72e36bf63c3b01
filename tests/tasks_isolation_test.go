package tests

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// TestTasksDoNotSeeTheirChecks has an agent look for the suite, for what is
// kept, and for the sandboxes of others.
func TestTasksDoNotSeeTheirChecks(t *testing.T) {
	t.Parallel()
	w := tasksWorld(t, map[string]string{"one": `{"kind": "regexMatch", "path": "seen.txt", "pattern": "^end\n$"}`})
	w.unset("AUTOLOOP_ISOLATION")
	root := filepath.Dir(w.side)
	spy := `for dir in "` + w.dir + `/suite" "` + root + `/home/.cache/autoloop" "$PWD/../.." "` + w.dir +
		`/.git"; do ls -A "$dir" 2>/dev/null | grep -e one -e task -e template -e config; done >seen.txt; echo end ` +
		`>>seen.txt`
	for _, runs := range []string{"1", "2"} { // the second time something is kept
		a := w.tasks(spy, "--settings", w.settings("cost-tolerance: 1000", "isolation: required"), "--json",
			"--runs", runs)
		if strings.Contains(a.stderr, "does not work on this machine") {
			long.Missing(w.t, "isolation")
		}
		require.Zero(t, a.code, a.stderr)
		assert.Contains(t, a.stdout, `"passed": 1`)
		assert.NotContains(t, a.stdout, `"passed": 0`)
	}
	open := w.tasks(spy, "--settings", w.settings("cost-tolerance: 1000", "isolation: off"), "--json")
	assert.Contains(t, open.stdout, `"passed": 0`, "without isolation it would be seen")
}
