package setup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
)

func TestTargetWarnings(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "src"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "src", "a.go"), nil, 0o600))
	for target, says := range map[string]string{
		"src/":      "",
		"src/a.go":  "",
		"*.md":      "",
		"src":       "target `src` is a directory; ",
		"src/a.go/": "target `src/a.go/` is no directory",
		"new.go":    "there is no `new.go` yet",
		"../out":    "there is no `../out` yet",
	} {
		p := &program.Program{File: "p.md", Targets: []program.Pattern{{Text: target, Line: 3}}}
		if says == "" {
			assert.Empty(t, targetWarnings(p, WorkingFiles(root)), target)
			continue
		}
		found := targetWarnings(p, WorkingFiles(root))
		require.Len(t, found, 1, target)
		assert.Contains(t, found[0].String(), "p.md:3: "+says)
	}
}

func TestCheckSaysWhatAProgramDoes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "a.go"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(root, "e.sh"), nil, 0o600))
	unfit := []program.Problem{{File: "p.md", Message: "it cannot be shared"}}
	for name, c := range map[string]struct {
		text, says string
		unfit      []program.Problem
		ok         bool
	}{
		"fine": {"---\nschedule: every 6h\n---\n## Target\n`a.go`\n## Evaluation\n```\n" +
			"sh e.sh > \"$AUTOLOOP_RESULT\"\n```\n", "p.md: ok\n" +
			"  schedule    every 6h\n  metric      the only number, higher is better\n  may change  a.go (line 5)\n" +
			"  evaluation  sh e.sh > \"$AUTOLOOP_RESULT\"\n", nil, true},
		"unfit": {
			"## Target\n`a.go`\n## Evaluation\n```\nsh e.sh\n```\n",
			"p.md: does not run\n  error: p.md: it cannot be shared\n", unfit, false,
		},
		"refused":      {"## Target\n`a.go`\n", "p.md: does not run\n  error: p.md: no evaluation: ", unfit, false},
		"unconfigured": {"## Goal\nTODO: say what\n", "p.md: not configured yet: fill in line 2\n", nil, false},
	} {
		p := program.Parse("p.md", []byte(c.text))
		checked := Check(p, WorkingFiles(root), append(p.Refusals(WorkingFiles(root), false), c.unfit...))
		assert.Equal(t, c.ok, checked.OK, name)
		assert.Contains(t, checked.String(), c.says, name)
	}
}
