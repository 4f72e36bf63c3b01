package loop

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
)

// TestCommitWhoseChecksCount is the base, or the nearest before it that does not ask CI
// to stay away; where that is too far away, the base itself.
func TestCommitWhoseChecksCount(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	specs := []commitSpec{{name: "0", message: "first [skip ci]"}, {name: "1", parents: "0", message: "work"}}
	for n := 2; n < 2+maxSkipped; n++ {
		specs = append(specs,
			commitSpec{name: fmt.Sprint(n), parents: fmt.Sprint(n - 1), message: fmt.Sprintf("%d [skip ci]", n)})
	}
	ids := g.commit(t, specs...)
	d := newMemoryRunIn(t, g.Repo, "p", "")
	unknown := "00000000000000000000000000000000000000ff"
	for _, c := range []struct{ base, want string }{
		{"1", "1"},
		{"5", "1"},
		{fmt.Sprint(maxSkipped), "1"},
		{fmt.Sprint(maxSkipped + 1), fmt.Sprint(maxSkipped + 1)},
	} {
		assert.Equal(t, ids[c.want], d.gate.checkedBase(t.Context(), ids[c.base]), c.base)
	}
	assert.Equal(t, unknown, d.gate.checkedBase(t.Context(), unknown))
	assert.Empty(t, d.gate.checkedBase(t.Context(), ""))
}

// TestWhetherCIIsRequired: it never switches itself off, and what cannot be read is a yes.
func TestWhetherCIIsRequired(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	const flows = ".github/workflows/"
	ids := g.commit(
		t,
		commitSpec{name: "plain", files: map[string]string{"value.txt": "1\n"}},
		commitSpec{name: "skipped", parents: "plain", message: "more [skip ci]", files: map[string]string{"a.txt": "1\n"}},
		commitSpec{name: "push", files: map[string]string{
			"value.txt": "1\n", flows + "a.yml": "on: schedule\n",
			flows + "b.yaml": "on: [push]\n",
		}},
		commitSpec{name: "schedule", files: map[string]string{"value.txt": "1\n", flows + "a.yml": "on: schedule\n"}},
		commitSpec{name: "target", files: map[string]string{
			"value.txt":     "1\n",
			flows + "a.yml": "on:\n  push:\n    paths: ['*.txt']\n",
		}},
		commitSpec{name: "broken", files: map[string]string{"value.txt": "1\n", flows + "a.yml": "on: [\n"}},
	)
	seen := []history.Event{wasMeasured("1"), wasDecided(1, history.CIFixExhausted, "2", "")}
	for _, c := range []struct {
		base   string
		front  string
		away   bool
		events []history.Event
		hasCI  bool
		broken bool
		want   bool
		asked  string // the commit of which GitHub is asked whether CI runs on it
		warns  string
	}{
		{base: "plain", asked: "plain"},
		{base: "skipped", hasCI: true, asked: "plain", want: true},
		{
			base: "plain", broken: true, asked: "plain", want: true,
			warns: "the default branch was not read, so the",
		},
		{base: "schedule", asked: "schedule"},
		{base: "target", want: true},
		{base: "broken", want: true},
		{base: "nowhere", want: true, warns: "runs on the default branch was not read"},
		{base: "plain", events: seen, want: true},
		{base: "plain", front: "ci-gate: required", want: true},
		{base: "push", front: "ci-gate: off"},
		{base: "push", away: true},
		{base: "push", front: "ci-gate: required", away: true},
	} {
		t.Run(c.base+" "+c.front, func(t *testing.T) {
			t.Parallel()
			d := newMemoryRunIn(t, g.Repo, "p", c.front, c.events...)
			if c.away {
				d.GitHub = nil
			}
			if d.hub.hasCI = c.hasCI; c.broken {
				d.hub.broken = map[string]error{"ci": errBroken}
			}
			base := ids[c.base]
			if base == "" {
				base = baseOnRecord
			}
			assert.Equal(t, c.want, d.gate.ciRequired(t.Context(), base))
			var asked []string
			if c.asked != "" {
				asked = []string{ids[c.asked]}
			}
			assert.Equal(t, asked, d.hub.asked)
			require.Equal(t, c.warns != "", len(d.warnings) == 1, d.warnings)
			if c.warns != "" {
				assert.Contains(t, d.warnings[0], c.warns)
			}
		})
	}
}
