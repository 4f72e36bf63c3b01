package render_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
)

func reportOf(rows string, triggers []render.SkillTriggers) render.SkillReport {
	return render.NewSkillReport(render.SkillReport{Triggers: triggers}, rowsOf(rows), false, false)
}

func TestReportShowsWholeDiff(t *testing.T) {
	t.Parallel()
	r := reportOf("0.5 +0.6", nil)
	r.Diff = "+say more\r\n+\trm -rf ~\x1b[2K\x1b[1A\r+harmless\u202e\u0085\n"
	text := r.Markdown()
	assert.Contains(t, text, "+say more\r\n+\trm -rf ~␛[2K␛[1A␍+harmless<U+202E><U+0085>\n")
	assert.Contains(t, text, "`--diff` gives the patch as it is")
	r.Diff = "+say more, ünïcode\r\n"
	assert.Contains(t, r.Markdown(), "+say more, ünïcode\r\n```")
	assert.NotContains(t, r.Markdown(), "Control characters")
}

func TestTriggersAreAFigureOfTheirOwn(t *testing.T) {
	t.Parallel()
	figure := func(version int, value string, failures ...render.SkillFailure) render.SkillTriggers {
		return render.SkillTriggers{
			Version: version, Score: metric.MustValue(value), Right: 3 - len(failures),
			Total: 3, Failures: failures,
		}
	}
	wrong := render.SkillFailure{Case: "trigger-2", Text: "what | time", Evidence: "loaded"}
	fewer, more := figure(1, "0.66", wrong), figure(0, "1")
	for name, figures := range map[string][]render.SkillTriggers{
		"fewer right": {more, fewer}, "more right": {figure(0, "0.66", wrong), figure(1, "1")},
		"the original alone": {figure(0, "0.66", wrong)}, "of another version": {more, figure(7, "0.66", wrong)},
		"without the original": {fewer},
	} {
		before := reportOf("0.5 +0.6", nil).Recommendation
		r := reportOf("0.5 +0.6", figures)
		text := r.Markdown()
		assert.Equal(t, name == "fewer right", strings.Contains(text,
			"(0.66 of the trigger queries, 1 before)"), "%s: %s", name, text)
		assert.Contains(t, text, "## Trigger queries\n\n- v", name)
		assert.Equal(t, before, r.Recommendation, "%s: it decides nothing", name)
	}
	r := reportOf("0.5 +0.6", nil)
	assert.NotContains(t, r.Markdown(), "Trigger queries")
	r = reportOf("0.5 +0.6", []render.SkillTriggers{figure(1, "0.66", wrong)})
	assert.Contains(t, r.Markdown(), "- v1: 0.66, 2 of 3 right\n  - trigger-2: what \\| time (loaded)\n")
}

func TestReportOfUnmeasuredCandidates(t *testing.T) {
	t.Parallel()
	const note = "the last 3 candidates were not"
	assert.Contains(t, reportOf("0.5 +0.6 - - -", nil).Markdown(), note)
	assert.NotContains(t, reportOf("0.5 +0.6 - -0.1 -", nil).Markdown(),
		"not measured at all")
}

func TestReportThatKeptNothing(t *testing.T) {
	t.Parallel()
	half := metric.MustValue("0.5")
	cases := []render.SkillCase{{ID: "polite", Before: &half, After: &half}}
	for rows, want := range map[string]string{"0.5 -0.4": "| case | v0 |\n", "0.5 +0.6": "| case | v0 | v1 |\n"} {
		r := reportOf(rows, nil)
		r.Cases = cases
		assert.Contains(t, r.Markdown(), want)
	}
}
