package skill

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/tests/golden"
	"github.com/org/autoloop/tests/testdir"
)

// TestPlaceOfRun has what is at the place of a workspace, s-autoresearch, before a run.
func TestPlaceOfRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		put   paths
		of    string // the skill of the workspace there, "" for none
		says  string // the error, "" for none
		warns string
	}{
		"nothing":            {},
		"files of others":    {paths{"s-autoresearch/notes.md": "x"}, "", `is no workspace and has "notes.md" in`, ""},
		"a file":             {paths{"s-autoresearch": "x"}, "", "not a directory", ""},
		"its own":            {nil, "s", "", ""},
		"its own, by a link": {paths{"link": "-> s"}, "link", "", ""},
		"that of another":    {paths{"other/SKILL.md": "x"}, "other", "is the workspace of ", ""},
		"that of one moved":  {paths{"gone": "-> other", "other/SKILL.md": "x"}, "gone", "", ""},
		"a script's":         {paths{"s-autoresearch/v0/SKILL.md": "x"}, "", "", "by another program: writing manifests"},
		"one cut off": {
			paths{"s-autoresearch/manifest.json": "{"}, "", "is no manifest of a workspace", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := testdir.New(t, paths{"s/SKILL.md": "x"})
			testdir.Put(t, base, c.put)
			dir, place := filepath.Join(base, "s"), filepath.Join(base, "s-autoresearch")
			if c.of != "" {
				w, err := CreateWorkspace(t.Context(), place, filepath.Join(base, c.of))
				require.NoError(t, err)
				if c.of == "gone" {
					w.Skill = filepath.Join(base, "nowhere")
					require.NoError(t, w.Save())
				}
			}
			said := &bytes.Buffer{}
			w, err := OpenOrCreate(t.Context(), place, dir, said)
			assert.Equal(t, c.warns == "", said.Len() == 0)
			assert.Contains(t, said.String(), c.warns)
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, dir, w.Skill)
			assert.DirExists(t, w.Version(0))
		})
	}
}

// TestRunSaysWhereItGoesOn, and what is kept when it is broken off.
func TestRunSaysWhereItGoesOn(t *testing.T) {
	t.Parallel()
	type run = Run
	for name, c := range map[string]struct {
		rows  string // as their actions begin
		run   *run
		count int
	}{
		"nothing":                  {"", nil, 3},
		"nothing, though it began": {"", &run{Count: 3}, 3},
		"a run that ended":         {"bkr", nil, 3},
		"one that was interrupted": {"bkr", &run{After: 0, Count: 3}, 3},
		"of another number":        {"bkr", &run{After: 0, Count: 3}, 4},
		"after runs before":        {"bkrrr", &run{After: 3, Count: 5}, 5},
		"measured anew in between": {"bkrb", &run{After: 2, Count: 2}, 2},
	} {
		w := &Workspace{Dir: t.TempDir(), Run: c.run}
		for n, action := range c.rows {
			require.NoError(t, w.Append(results.Row{Iteration: n, Changelog: "x", Action: map[rune]results.Action{
				'b': results.Baseline, 'k': results.Kept, 'r': results.Reverted,
			}[action]}))
		}
		golden.Row(t, name, strings.ReplaceAll(Kept(w, c.count), w.Dir, "DIR"))
	}
	w := &Workspace{Dir: testdir.New(t, paths{"results.tsv": "no table\n"})}
	assert.Empty(t, Kept(w, 1), "what cannot be read promises nothing")
}

func TestRunsThatCount(t *testing.T) {
	t.Parallel()
	const candidate, incumbent, notOne = "candidate", "incumbent", "is no run of this iteration"
	list := func(runs ...string) string { return `{"schema": 1, "runs": [` + strings.Join(runs, ",") + `]}` }
	run := func(dir, side string, counts bool) string {
		return fmt.Sprintf(`{"dir": %q, "side": %q, "stage": "pairs", "score": 0.5, "counts": %v}`, dir, side, counts)
	}
	for name, c := range map[string]struct {
		text  string // of runs.json, "" for none
		runs  string
		fails string
	}{
		"run once": {"", ".", ""},
		"those that count": {list(run(".", candidate, false), run("run-2", candidate, true),
			run("incumbent-1", incumbent, true), run("run-10", candidate, true)), "run-2 run-10", ""},
		"none counts": {list(run(".", candidate, false), run("incumbent-1", incumbent, true)), ".", ""},
		"no runs":     {list(), ".", ""},
		"fields of later": {`{"schema": 1, "later": {}, "runs": [{"dir": "run-2", "side": "candidate", "counts": ` +
			`true, "later": []}]}`, "run-2", ""},
		"upwards":            {list(run("../iteration-0", candidate, true)), "", `names "../iteration-0", which is no run`},
		"upwards, not used":  {list(run(".", candidate, true), run("..", incumbent, false)), "", notOne},
		"the root":           {list(run("/etc", candidate, true)), "", notOne},
		"a run and more":     {list(run("run-2\n", candidate, true)), "", notOne},
		"too large a number": {list(run("run-123456", candidate, true)), "", notOne},
		"cut off":            {list(run(".", candidate, true))[:30], "", "off; remove it, and the first run alone"},
		"blank":              {" ", "", "no list of runs that this program reads"},
		"a later schema":     {`{"schema": 2, "runs": []}`, "", "no list of runs that this program reads"},
		"a score that is not": {
			`{"schema": 1, "runs": [{"dir": ".", "score": "high"}]}`, "", "no list of runs that this program reads",
		},
		"too large":        {list() + strings.Repeat(" ", 4<<20), "", "is no file of at most 4194304 bytes"},
		"a link elsewhere": {"-> /dev/zero", "", "is no file of at most"},
	} {
		dir := testdir.New(t, nil)
		if c.text != "" {
			testdir.Put(t, dir, paths{RunsFile: c.text})
		}
		runs, err := readRuns(dir)
		if c.fails != "" {
			require.ErrorContains(t, err, c.fails, name)
			assert.Contains(t, err.Error(), RunsFile)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, strings.Fields(c.runs), runs.candidates(), name)
	}
}
