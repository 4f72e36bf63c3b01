package tests

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	statefile "github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/loop/proposal"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/evals"
	"github.com/org/autoloop/internal/skill/workspace"
	"github.com/org/autoloop/internal/tasks/format"
)

// The formats: a frozen file is read, and written again from what was read. It
// comes out byte for byte as it was.

// relined reads a ledger, and renders the events that it has.
func relined(t *testing.T, text string) string {
	t.Helper()
	log, err := history.Parse([]byte(text))
	require.NoError(t, err)
	var out strings.Builder
	for _, event := range log.Events {
		head := event.Header()
		*head = history.Head{Time: head.Time, Run: head.Run, Iteration: head.Iteration} // as of an event that was not read
		line, err := history.Line(event)
		require.NoError(t, err)
		out.Write(line)
	}
	return out.String()
}

func TestCompatLedger(t *testing.T) {
	eachVersion(t, func(t *testing.T, dir string) {
		t.Helper()
		text := frozenFile(t, dir, "ledger.jsonl")
		assert.Equal(t, text, relined(t, text))
		w := restoredWorld(t, filepath.Join(dir, "file"))
		text = w.memory("p.jsonl") + "\n"
		assert.Equal(t, text, relined(t, text))
		h := restoredHub(t, filepath.Join(dir, "fix"))
		text = h.remembered("p.jsonl") + "\n"
		assert.Equal(t, text, relined(t, text))
	})
}

// rows are those of the table in a state file, each with a value that none of the
// frozen files has.
var rows = map[string]string{
	"Last Run": "2001-02-03T04:05:06Z", "Iteration Count": "77", "Initial Metric": "77", "Best Metric": "77", "Target Metric": "77",
	"Metric Direction": "higher", "Branch": "`other`", "PR": "#77", "Issue": "#77", "Pause Reason": "other", "Completed": "true",
	"Completed Reason": "other", "Consecutive Errors": "77", "Recent Statuses": "error, error", "Not Before": "2001-02-03T04:05:06Z",
}

// TestCompatState changes all values of the table, and has the right ones written
// again. All else in the file is kept as text.
func TestCompatState(t *testing.T) {
	eachVersion(t, func(t *testing.T, dir string) {
		t.Helper()
		w, h := restoredWorld(t, filepath.Join(dir, "file")), restoredHub(t, filepath.Join(dir, "issue"))
		for name, text := range map[string]string{"p": w.memory("p.md"), "rest": w.memory("rest.md"), "issue": h.remembered("p.md")} {
			text += "\n"
			read, err := statefile.Parse([]byte(text))
			require.NoError(t, err, name)
			_, warnings, err := statefile.ParseMachine([]byte(text))
			require.NoError(t, err, name)
			assert.Empty(t, warnings, name)
			assert.Equal(t, text, string(read.Render()), name)

			wrong := text
			for row, value := range rows {
				wrong = regexp.MustCompile(`(?m)^\| `+row+` \| .* \|$`).ReplaceAllString(wrong, "| "+row+" | "+value+" |")
			}
			require.NotEqual(t, text, wrong)
			again, err := statefile.Parse([]byte(wrong))
			require.NoError(t, err, name)
			require.Equal(t, 77, again.Machine().IterationCount)
			again.SetMachine(read.Machine())
			assert.Equal(t, text, string(again.Render()), name)

			fresh := statefile.New("p")
			fresh.SetMachine(read.Machine())
			assert.Equal(t, read.Table(), fresh.Table(), "%s: a new file has the same rows", name)
			assert.Equal(t, headings(text), headings(string(fresh.Render())), name)
		}
	})
}

// headings are the names of the sections of a state file, in no order.
func headings(text string) []string {
	found := regexp.MustCompile(`(?m)^## .*$`).FindAllString(strings.Replace(text, "## My own notes\n", "", 1), -1)
	slices.Sort(found)
	return found
}

func retabled(t *testing.T, text string, direction metric.Direction) string {
	t.Helper()
	read, err := results.Parse([]byte(text))
	require.NoError(t, err)
	written := &results.Table{}
	for _, row := range read.Rows() {
		require.NoError(t, written.Append(row, direction))
	}
	return string(written.Bytes())
}

func TestCompatResults(t *testing.T) {
	eachVersion(t, func(t *testing.T, dir string) {
		t.Helper()
		text := restoredWorld(t, filepath.Join(dir, "file")).memory("p.results.tsv") + "\n"
		assert.Equal(t, text, retabled(t, text, metric.Lower))
		text = restoredHub(t, filepath.Join(dir, "issue")).remembered("p.results.tsv") + "\n"
		assert.Equal(t, text, retabled(t, text, metric.Lower))
	})
}

func TestCompatBundle(t *testing.T) {
	eachVersion(t, func(t *testing.T, dir string) {
		t.Helper()
		for _, kind := range []string{"jobs", "fix"} {
			from, to := filepath.Join(dir, kind, "bundle"), filepath.Join(t.TempDir(), "bundle")
			read, err := proposal.Read(from)
			require.NoError(t, err, kind)
			require.NoError(t, proposal.Write(to, read), kind)
			for _, name := range []string{"manifest.json", "change.patch", "events.jsonl", "SHA256SUMS"} {
				assert.Equal(t, frozenFile(t, from, name), frozenFile(t, to, name), "%s %s", kind, name)
			}
			events := frozenFile(t, from, "events.jsonl")
			assert.Equal(t, events, relined(t, events), kind)
		}
	})
}

// indented is a value as JSON files for programs have it.
func indented(t *testing.T, value any) string {
	t.Helper()
	text, err := json.MarshalIndent(value, "", "  ")
	require.NoError(t, err)
	return string(text) + "\n"
}

// prose are the texts for people in autoloop.json; they may be worded anew.
var prose = regexp.MustCompile(`("(?:message|reason)": ").*(")`)

func TestCompatPlan(t *testing.T) {
	eachVersion(t, func(t *testing.T, dir string) {
		t.Helper()
		w, h := restoredWorld(t, filepath.Join(dir, "file")), restoredHub(t, filepath.Join(dir, "issue"))
		for kind, w := range map[string]*world{"file": w, "issue": h.world} {
			text := frozenFile(t, dir, kind, "autoloop.json")
			var plan schedule.Plan
			decoder := json.NewDecoder(strings.NewReader(text))
			decoder.DisallowUnknownFields()
			require.NoError(t, decoder.Decode(&plan), kind)
			assert.Equal(t, text, indented(t, plan), kind)
			assert.Equal(t, prose.ReplaceAllString(w.atHome(text), "$1$2"), prose.ReplaceAllString(w.planned(), "$1$2"), "%s: it is decided again", kind)
		}
	})
}

// TestCompatWorkspace reads and writes all files of a skill's workspace that are
// not the skill's own.
func TestCompatWorkspace(t *testing.T) {
	eachVersion(t, func(t *testing.T, dir string) {
		t.Helper()
		root := t.TempDir()
		restoreTree(t, filepath.Join(dir, "skill", "tree.json"), root)
		place := filepath.Join(root, ws)
		w, err := workspace.OpenWorkspace(place)
		require.NoError(t, err)
		assert.Equal(t, 1, w.Best)
		manifest := frozenFile(t, place, "manifest.json")
		require.NoError(t, os.WriteFile(filepath.Join(place, "manifest.json"), nil, 0o600))
		require.NoError(t, w.Save())
		assert.Equal(t, manifest, frozenFile(t, place, "manifest.json"))
		table := frozenFile(t, place, "results.tsv")
		assert.Equal(t, table, retabled(t, table, metric.Higher))

		for _, version := range []string{"v0", "v1"} {
			from, to := filepath.Join(place, version), filepath.Join(t.TempDir(), version)
			_, err := workspace.Verify(t.Context(), from)
			require.NoError(t, err, version)
			restored := filepath.Join(t.TempDir(), "s")
			_, err = workspace.Restore(t.Context(), from, restored)
			require.NoError(t, err, version)
			_, err = workspace.Take(t.Context(), restored, to)
			require.NoError(t, err, version)
			t.Cleanup(func() { _ = workspace.Discard(to) })
			assert.Equal(t, frozenFile(t, workspace.ManifestFile(from)), frozenFile(t, workspace.ManifestFile(to)), version)
		}

		for pattern, write := range map[string]func(data []byte) any{
			"iteration-*/runs.json": func(data []byte) any {
				var runs skill.Runs
				require.NoError(t, json.Unmarshal(data, &runs))
				return runs
			},
			"iteration-*/eval-*/grading.json": func(data []byte) any {
				grading, err := evals.ParseGrading(data)
				require.NoError(t, err)
				return grading
			},
		} {
			files, err := filepath.Glob(filepath.Join(place, filepath.FromSlash(pattern)))
			require.NoError(t, err)
			require.NotEmpty(t, files, pattern)
			for _, file := range files {
				text := frozenFile(t, file)
				assert.Equal(t, text, indented(t, write([]byte(text))), file)
			}
		}
		dirs, err := skill.VersionRuns(w, 0, 2)
		require.NoError(t, err)
		for i := range dirs {
			dirs[i], err = filepath.Rel(place, dirs[i])
			require.NoError(t, err)
		}
		assert.Equal(t, []string{"iteration-0", filepath.Join("iteration-1", "incumbent-1")}, dirs)
	})
}

// TestCompatOutcomes reads the outcomes of a suite of tasks, and compares them
// again.
func TestCompatOutcomes(t *testing.T) {
	eachVersion(t, func(t *testing.T, dir string) {
		t.Helper()
		w := emptyWorld(t)
		for _, kind := range []string{"tasks", "judged"} {
			place := w.absolute(filepath.Join(dir, kind))
			for _, name := range []string{"baseline.json", "candidate.json"} {
				text := frozenFile(t, place, name)
				outcome, problems := format.ParseOutcome(name, []byte(text))
				require.NoError(t, problems.Err())
				assert.Equal(t, text, indented(t, outcome), "%s %s", kind, name)
			}
			a := w.binary("iterate", "compare", filepath.Join(place, "baseline.json"), filepath.Join(place, "candidate.json"), "--json")
			require.Zero(t, a.code, a.stderr)
			assert.Equal(t, worded(frozenFile(t, place, "comparison.json")), worded(a.stdout), kind)
		}
	})
}

// words are the texts for people in a comparison.
var words = regexp.MustCompile(`("(?:text|summary)": ").*(")|("warnings": \[)[^\]]*(\])`)

func worded(text string) string { return words.ReplaceAllString(text, "$1$2$3$4") }

// TestCompatReport has a comparison begin with the finished runs that were kept:
// none is run again, and the report is the same.
func TestCompatReport(t *testing.T) {
	eachVersion(t, func(t *testing.T, dir string) {
		t.Helper()
		dir = filepath.Join(dir, "tasks")
		w := restoredWorld(t, dir)
		w.write("AGENTS.md", "after\n")
		cache := filepath.Join(w.side, "cache")
		require.NoError(t, os.Mkdir(cache, 0o700))
		restoreTree(t, filepath.Join(dir, "cache.json"), cache)
		a := w.tasks(copyConfig, "--cache", cache, "--report", "out", "--runs", "2")
		require.Zero(t, a.code, a.stderr)
		assert.Contains(t, a.stderr, "8/8 runs, 8 kept from before")
		for _, name := range []string{"report.json", "baseline.json", "candidate.json"} {
			want := strings.Replace(w.atHome(frozenFile(t, dir, name)), `"reusedRuns": 0`, `"reusedRuns": 8`, 1)
			assert.Equal(t, worded(want), worded(w.read("out/"+name)), name)
		}
	})
}
