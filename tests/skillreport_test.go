package tests

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const trajectory = `iteration	timestamp	score	best_score	action	changelog
0	2025-01-15T10:30:00+00:00	0.5	0.5	baseline	Initial evaluation
1	2025-01-15T11:30:00+00:00	0.75	0.75	kept	Say it | <b>again</b>
2	2025-01-15T12:30:00+00:00	0.25	0.75	reverted	Say it less
3	2025-01-15T13:30:00+00:00		0.75	reverted	@nobody
`

// improvedWorld has skill `s` and its workspace `s-autoresearch` with a v1 that
// differs in every way that a file can.
func improvedWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, map[string]string{
		"s/SKILL.md": "# s\none\ntwo\nthree\nfour\nfive\nsix\n", "s/evals/evals.json": evalSuite(2, 2),
		"s/run.sh": "#!/bin/sh\n", "s/old": "old\n",
		"s/evals/trigger-eval.json": `[{"query": "write the notes", "should_trigger": true}, {"query": ` +
			`"</script><script>alert(1)</script>", "should_trigger": false}]`,
		"s/binary": "\x00\x01\x02", "s/not \xff utf8": "caf\xe9\n", "s/keep": "kept\n",
		"s/dir/file": "x\n",
	})
	ws, skill := "s-autoresearch", filepath.Join(w.dir, "s")
	require.Zero(t, w.binary("iterate", "skill", "snapshot", "s", ws+"/v0").code)
	w.run("", "cp", "-a", skill, filepath.Join(w.dir, "next"))
	next := filepath.Join(w.dir, "next")
	w.write("next/SKILL.md", "# s\none\ntwo\nthree\nfour\nfive\nsix, better\n```\nfenced\n```\n")
	w.write("next/binary", "\x00\x01\x03")
	w.write("next/not \xff utf8", "caf\xe9s\n")
	w.write("next/new dir/\"quoted\"\n\ttext", "new\n")
	require.NoError(t, os.Remove(filepath.Join(next, "old")))
	require.NoError(t, os.Chmod(filepath.Join(next, "run.sh"), 0o755))
	require.NoError(t, os.Symlink("dir/file", filepath.Join(next, "link")))
	a := w.binary("iterate", "skill", "snapshot", "next", ws+"/v1")
	require.Zero(t, a.code, a.stderr)
	w.write(ws+"/results.tsv", trajectory)
	w.write(ws+"/iteration-0/eval-c0/grading.json", graded(2, 2))
	w.write(ws+"/iteration-0/eval-c1/grading.json", graded(0, 2))
	w.write(ws+"/iteration-1/eval-c0/grading.json", graded(1, 2))
	w.write(ws+"/iteration-1/eval-c1/grading.json", graded(2, 2))
	return w
}
