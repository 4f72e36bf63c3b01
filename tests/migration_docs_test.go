package tests

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// followed does what the example of a page says, in its order: a command of a console
// block prints what the page shows, one of a bash block succeeds. A file that the page
// shows is there from the beginning; edit does what it tells in words after the
// console blocks so far.
func (w *project) followed(page string, edit func(blocks int)) {
	w.t.Helper()
	data := readText(w.t, "../docs/"+page)
	_, example, found := strings.Cut(data, "## Example")
	require.True(w.t, found)
	done := 0
	for _, block := range regexp.MustCompile(
		"(?s)```(console|bash)(?: [^\n]*)?\n(.*?)```").FindAllStringSubmatch(example,
		-1) {
		if block[1] == "bash" {
			for line := range strings.Lines(block[2]) {
				a := w.binary("iterate", strings.Fields(line)[1:]...)
				require.Zero(w.t, a.code, "%s: %s", line, a.stderr)
			}
			continue
		}
		shown := ""
		for _, command := range regexp.MustCompile(`(?m)^\$ iterate (.*)\n`).FindAllStringSubmatch(block[2], -1) {
			shown += command[0] + w.binary("iterate", strings.Fields(command[1])...).stdout
		}
		assert.Equal(w.t, block[2], shown)
		done++
		edit(done)
	}
	require.Positive(w.t, done)
}

// shownIn is the JSON that a page shows, in its order.
func shownIn(t *testing.T, page string) []string {
	t.Helper()
	data := readText(t, "../docs/"+page)
	var list []string
	for _, block := range regexp.MustCompile("(?s)```json(?: [^\n]*)?\n(.*?)```").FindAllStringSubmatch(
		data, -1) {
		list = append(list, block[1])
	}
	return list
}

func TestMovingOverFromScriptsAsThePageSays(t *testing.T) {
	t.Parallel()
	const page, suite, place = "howto/move-from-skill-scripts.md", "skills/invoice/evals/evals.json",
		"skills/invoice-autoresearch"
	shown := shownIn(t, page)
	require.Len(t, shown, 2)
	w := newProject(t, map[string]string{
		"skills/invoice/SKILL.md": "---\nname: invoice\n---\nWrite the invoice.\n", suite: shown[0],
		"skills/invoice/evals/order.txt": "3 pens\n",
		place + "/results.tsv": "iteration\ttimestamp\tscore\tbest_score\taction\tchangelog\n" +
			"0\t2024-03-01T09:00:00\t0.5\t0.5\tbaseline\tInitial evaluation\n" +
			"1\t2024-03-01T09:10:00\t1.0\t1.0\tkept\tSay thank you\n",
	})
	w.withClaude()
	for _, version := range []string{"v0", "v1", "candidate"} {
		w.run("", "cp", "-a", w.dir+"/skills/invoice", w.dir+"/"+place+"/"+version)
	}
	w.write(place+"/v1/SKILL.md", w.read("skills/invoice/SKILL.md")+"Say thank you.\n")
	a := w.binary("iterate", "skill", "score", "skills/invoice", "1")
	assert.NotZero(t, a.code)
	assert.Contains(t, a.stderr,
		"/v0 cannot be used and stays as it is;")
	w.followed(page, func(blocks int) {
		if blocks == 1 {
			lines := strings.SplitAfter(w.read(suite), "\n")
			lines[2] = shown[1]
			w.write(suite, strings.Join(lines, ""))
		}
	})
	assert.GreaterOrEqual(t, strings.Count(w.read(place+"-2/results.tsv"), "\n"), 3,
		"the header, the baseline, and an iteration")
	assert.Contains(t, w.read("skills/invoice/SKILL.md"), "Say thank you.")
}

func TestMovingOverTasksAsThePageSays(t *testing.T) {
	t.Parallel()
	const page = "howto/move-from-task-harness.md"
	w := newProject(t, map[string]string{
		"evals/tasks/slug/task.json": shownIn(t, page)[0], "evals/tasks/slug/fixture/slug.sh": "cat\n",
		"CLAUDE.md": "Be brief.\n",
	})
	w.withClaude()
	w.write("CLAUDE.md", "Be brief. Slugs are in lower case.\n")
	w.followed(page, func(int) {})
	assert.Contains(t, w.read("out/report.md"), "improved")
}
