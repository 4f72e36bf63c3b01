package program_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/golden"
)

const file = ".autoloop/programs/speed.md"

func parse(text string) *program.Program { return program.Parse(file, []byte(text)) }

func messages(problems []program.Problem) string {
	var lines []string
	for _, problem := range problems {
		lines = append(lines, problem.String())
	}
	return strings.Join(lines, "\n")
}

func TestFrontmatterIsFound(t *testing.T) {
	for name, text := range map[string]string{
		"plain":                  "---\nschedule: daily\nmetric_direction: lower\n---\nbody\n",
		"at the end of the file": "---\nschedule: daily\nmetric_direction: lower\n---",
		"byte order mark":        "\ufeff---\nschedule: daily\nmetric_direction: lower\n---\n",
		"CRLF":                   "---\r\nschedule: daily\r\nmetric_direction: lower\r\n---\r\n",
		"CR":                     "---\rschedule: daily\rmetric_direction: lower\r---\r",
		"comment before":         "<!-- a comment -->\n---\nschedule: daily\nmetric_direction: lower\n---\n",
		"comments of many lines": "\n<!-- one\n---\nschedule: hourly\n---\n-->\n\n<!-- two -->\n---\n" +
			"schedule: daily\nmetric_direction: lower\n---\n",
		"mark, comment and CRLF":   "\ufeff<!-- a -->\r\n---\r\nschedule: daily\r\nmetric_direction: lower\r\n---\r\n",
		"comment on the same line": "<!-- a --> ---\nschedule: daily\nmetric_direction: lower\n---\n",
		"spaces after the dashes":  "--- \nschedule: daily\nmetric_direction: lower\n---\t\nbody\n",
		"YAML comments":            "---\n# about\nschedule: daily # each day\nmetric_direction: lower   # a comment\n---\n",
		"double quotes":            "---\n\"schedule\": \"daily\"\nmetric_direction: \"LOWER\"\n---\n",
		"single quotes":            "---\nschedule: 'daily' # x\nmetric_direction: 'lower'\n---\n",
		"upper case":               "---\nschedule: DAILY\nmetric_direction: Lower\n---\n",
		"dashes in the key":        "---\nschedule: daily\nmetric-direction: lower\n---\n",
		"flow mapping":             "---\n{schedule: daily, metric_direction: lower}\n---\n",
		"block scalars":            "---\nschedule: |\n  daily\nmetric_direction: >\n  lower\n---\n",
		"blank lines":              "---\n\nschedule: daily\n   \n\nmetric_direction: lower\n---\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := parse(text)
			require.NoError(t, p.Err())
			assert.Empty(t, p.Warnings())
			interval, ok := p.Schedule.Interval()
			assert.True(t, ok)
			assert.Equal(t, 24*time.Hour, interval)
			assert.Equal(t, metric.Lower, p.Direction)
			assert.True(t, p.DirectionGiven)
		})
	}
}

func TestNoFrontmatter(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "heading": "# Title\n", "prose": "Make it fast.\n", "only comments": "<!-- a -->\n",
		"empty frontmatter": "---\n---\n# Title\n", "only YAML comments": "---\n# a\n---\n",
		"a rule below": "# Title\n\n---\n\ntext\n",
		"a long rule":  "-----\n\ntext\n", "a very long rule": "# a\n\n" + strings.Repeat("-", 300) + "\n",
		"a sentence with a colon": "Goal: make it fast\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := parse(text)
			require.NoError(t, p.Err())
			assert.Empty(t, p.Schedule.Text)
			assert.Equal(t, metric.Higher, p.Direction)
			assert.False(t, p.DirectionGiven)
			assert.Nil(t, p.Target)
		})
	}
}

func TestFrontmatterErrors(t *testing.T) {
	golden.Table(t, map[string]string{
		"not ended":               "---\nschedule: daily\n# Title\n",
		"not ended after comment": "<!-- a\nb -->\n---\nschedule: daily\n",
		"only the opening":        "---",
		"comment not closed":      "\n<!-- a\n---\nschedule: daily\n---\n",
		"TOML":                    "+++\nschedule = \"daily\"\n+++\n",
		"TOML between dashes":     "---toml\nschedule = \"daily\"\n---\n",
		"JSON":                    "{\n\"schedule\": \"daily\"\n}\n\n",
		"JSON semicolons":         ";;;\n{}\n;;;\n",
		"JSON between dashes":     "---json\n{}\n---\n",
		"YAML named":              "---yaml\nschedule: daily\n---\n",
		"four dashes":             "----\nschedule: daily\n----\n",
		"a long dash":             "—\nschedule: daily\n---\n",
		"no opening":              "schedule: daily\n---\n# Title\n",
		"latin-1":                 "---\nschedule: daily\n---\n\n# Caf\xe9\n",
		"latin-1 and CRLF":        "---\r\nschedule: daily\r\n# \xe9\r\n---\r\n",
		"NUL":                     "---\nschedule: daily\n---\na\x00b\n",
		"a list":                  "---\n- schedule\n---\n",
		"a text":                  "---\nschedule\n---\n",
		"no space":                "---\nschedule:daily\n---\n",
		"two colons":              "---\nmetric: x\nschedule: a: b\n---\n",
		"a tab":                   "---\nbudget:\n\tusd: 1\n---\n",
		"at sign":                 "---\nmetric: x\nschedule: @daily\n---\n",
		"star":                    "---\nschedule: */5 * * * *\n---\n",
		"star with a comment":     "---\nschedule: */5 * * * * # often\n---\n",
		"star in a list":          "---\ntarget:\n  - src/a.go\n  - *.go\n---\n",
		"star in a flow list":     "---\ntarget: [*.go, docs/, *.md]\n---\n",
		"alias":                   "---\nmetric: &a x\nmodel: *a\n---\n",
		"anchor":                  "---\nmetric: &a x\n---\n",
		"merge key":               "---\nbudget: {<<: {usd: 1}}\n---\n",
		"tag":                     "---\nmetric: !!str x\n---\n",
		"same key":                "---\nmetric: x\nmetric: y\n---\n",
		"both spellings":          "---\ntarget-metric: 1\ntarget_metric: 2\n---\n",
		"both spellings, unknown": "---\nmy-key: 1\nmy_key: 2\n---\n",
		"two documents":           "---\nmetric: x\n...\nmetric: y\n---\n",
		"large":                   "---\nsetup: " + strings.Repeat("x", 40_000) + "\n---\n",
		"deep":                    "---\nbudget: " + strings.Repeat("[", 5000) + "\n---\n",
		"deep sequences":          "---\n" + strings.Repeat("- ", 5000) + "x\n---\n",
		"rather deep":             "---\nbudget: " + strings.Repeat("[", 12) + strings.Repeat("]", 12) + "\n---\n",
	}, func(t *testing.T, text string) any {
		p := parse(text)
		require.Error(t, p.Err())
		assert.Equal(t, file, p.Errors()[0].File)
		return p.Errors()[0]
	})
}

func TestLargeFile(t *testing.T) {
	p := parse(strings.Repeat("a\n", program.MaxBytes))
	assert.ErrorContains(t, p.Err(), "at most 1048576")
}

func TestHostileTextIsReadInTime(t *testing.T) {
	const size = 40_000
	for name, text := range map[string]string{
		"quotes":      strings.Repeat(">", size),
		"list marks":  strings.Repeat("- ", size/2),
		"brackets":    strings.Repeat("[", size),
		"links":       strings.Repeat("[a](", size/4),
		"stars":       strings.Repeat("*a ", size/3),
		"underscores": strings.Repeat("_a*", size/3),
		"backticks":   strings.Repeat("`a``b", size/5),
		"angles":      strings.Repeat("<a ", size/3),
		"comments":    strings.Repeat("<!--", size/4),
		"fences":      strings.Repeat("```\na\n```\n", size/10),
		"headings":    strings.Repeat("# target\n", size/9),
		"references":  strings.Repeat("[a]: b\n", size/7),
		"deep lists":  strings.Repeat(" ", 4000) + strings.Repeat("- a\n  ", size/6),
		"better":      strings.Repeat("lower is higher better ", size/23),
		"aliases":     "---\na: &a [x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\n---\n",
		"keys":        "---\n" + strings.Repeat("a: 1\n", 6000) + "---\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, text := range []string{text, "## Target\n" + text, "lower is better TODO higher\n" + text} {
				parse(text)
			}
		})
	}
}
