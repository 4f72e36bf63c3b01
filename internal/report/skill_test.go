package report_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/report"
)

func TestAReportHidesNothingOfTheDiff(t *testing.T) {
	t.Parallel()
	r := report.NewSkillReport(rowsOf("0.5 +0.6"), nil)
	r.Diff = "+say more\r\n+\trm -rf ~\x1b[2K\x1b[1A\r+harmless\u202e\u0085\n"
	text := r.Markdown()
	assert.Contains(t, text, "+say more\r\n+\trm -rf ~␛[2K␛[1A␍+harmless<U+202E><U+0085>\n")
	assert.Contains(t, text, "`--diff` gives the patch as it is")
	r.Diff = "+say more, ünïcode\r\n"
	assert.Contains(t, r.Markdown(), "+say more, ünïcode\r\n```")
	assert.NotContains(t, r.Markdown(), "Control characters")
}

func TestAReportOfCandidatesThatWereNeverMeasured(t *testing.T) {
	t.Parallel()
	const note = "the last 3 candidates were not measured at all"
	assert.Contains(t, report.NewSkillReport(rowsOf("0.5 +0.6 - - -"), nil).Markdown(), note)
	assert.NotContains(t, report.NewSkillReport(rowsOf("0.5 +0.6 - -0.1 -"), nil).Markdown(), "not measured at all")
}
