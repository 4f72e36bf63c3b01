package tests

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const trajectory = `iteration	timestamp	score	best_score	action	changelog
0	2025-01-15T10:30:00+00:00	0.5	0.5	baseline	Initial evaluation
1	2025-01-15T11:30:00+00:00	0.75	0.75	kept	Say it | <b>again</b>
2	2025-01-15T12:30:00+00:00	0.25	0.75	reverted	Say it less
3	2025-01-15T13:30:00+00:00		0.75	reverted	@nobody
`

// improvedProject has skill `s` and its workspace `s-autoresearch` with a v1 that
// differs in every way that a file can.
func improvedProject(t *testing.T) *project {
	t.Helper()
	w := newProject(t, map[string]string{
		"s/SKILL.md": "# s\none\ntwo\nthree\nfour\nfive\nsix\n", "s/evals/evals.json": evalSuite(2, 2),
		"s/run.sh": "#!/bin/sh\n", "s/old": "old\n",
		"s/evals/trigger-eval.json": `[{"query": "write the notes", "should_trigger": true}, {"query": ` +
			`"</script><script>alert(1)</script>", "should_trigger": false}]`,
		"s/binary": "\x00\x01\x02", "s/not \xff utf8": "caf\xe9\n", "s/keep": "kept\n",
		"s/dir/file": "x\n",
	})
	ws, skill := "s-autoresearch", filepath.Join(w.dir, "s")
	w.ok("iterate", "skill", "snapshot", "s", ws+"/v0")
	w.run("", "cp", "-a", skill, filepath.Join(w.dir, "next"))
	next := filepath.Join(w.dir, "next")
	w.write("next/SKILL.md", "# s\none\ntwo\nthree\nfour\nfive\nsix, better\n```\nfenced\n```\n")
	w.write("next/binary", "\x00\x01\x03")
	w.write("next/not \xff utf8", "caf\xe9s\n")
	w.write("next/new dir/\"quoted\"\n\ttext", "new\n")
	require.NoError(t, os.Remove(filepath.Join(next, "old")))
	require.NoError(t, os.Chmod(filepath.Join(next, "run.sh"), 0o755))
	require.NoError(t, os.Symlink("dir/file", filepath.Join(next, "link")))
	w.ok("iterate", "skill", "snapshot", "next", ws+"/v1")
	w.write(ws+"/results.tsv", trajectory)
	w.write(ws+"/iteration-0/eval-c0/grading.json", graded(2, 2))
	w.write(ws+"/iteration-0/eval-c1/grading.json", graded(0, 2))
	w.write(ws+"/iteration-1/eval-c0/grading.json", graded(1, 2))
	w.write(ws+"/iteration-1/eval-c1/grading.json", graded(2, 2))
	return w
}

// evalSuite is the evals.json of a suite with so many expectations by case.
func evalSuite(totals ...int) string {
	var cases []string
	for i, total := range totals {
		var texts []string
		for k := range total {
			texts = append(texts, fmt.Sprintf("%q", fmt.Sprintf("expectation %d", k)))
		}
		cases = append(cases, fmt.Sprintf(`{"id": "c%d", "prompt": "do it", "expectations": [%s]}`, i,
			strings.Join(texts, ",")))
	}
	return `{"skill_name": "s", "evals": [` + strings.Join(cases, ",") + `]}`
}

// graded is a grading.json in which the first of the expectations passed, with
// a summary that is wrong.
func graded(passed, total int) string {
	var entries []string
	for k := range total {
		entries = append(entries, fmt.Sprintf(`{"text": "expectation %d", "passed": %v, "evidence": "seen"}`, k,
			k < passed))
	}
	return `{"summary": {"pass_rate": 1, "passed": 9, "failed": 0, "total": 9}, "expectations": [` +
		strings.Join(entries, ",") + `]}`
}

// state describes all that is below a directory but for `.git`.
func state(t testing.TB, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Name() == ".git" && entry.IsDir() {
			return fs.SkipDir
		}
		if entry.Name() == ".git" {
			return nil
		}
		info, err := entry.Info()
		if err != nil || name == dir {
			return err
		}
		text := ""
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			text = string(data)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			if text, err = os.Readlink(name); err != nil {
				return err
			}
		}
		fmt.Fprintf(&out, "%q %v %q\n", strings.TrimPrefix(name, dir), info.Mode(), text)
		return nil
	})
	if os.IsNotExist(err) {
		return "nothing"
	}
	require.NoError(t, err)
	return out.String()
}

const ws = "s-autoresearch"

func (w *project) state(name string) string {
	w.t.Helper()
	return state(w.t, filepath.Join(w.dir, name))
}

// skillEnd is what --json prints at the end of a run.
type skillEnd struct {
	Name, Ended, Workspace string
	BestVersion            int `json:"best_version"`
	Applied                bool
	Iterations             []struct {
		Iteration         int
		Score             *float64
		Action, Changelog string
	}
	Report struct{ Class, Diff string }
}

func (w *project) skillEnd(more ...string) skillEnd {
	w.t.Helper()
	a := w.skill(append(more, "--json")...)
	require.Zero(w.t, a.code, a.stderr)
	var end skillEnd
	require.NoError(w.t, json.Unmarshal([]byte(a.stdout), &end), a.stdout)
	return end
}
