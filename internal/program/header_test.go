package program_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
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
	for name, c := range map[string]struct {
		text, says string
		line       int
	}{
		"not ended":               {"---\nschedule: daily\n# Title\n", "does not end", 1},
		"not ended after comment": {"<!-- a\nb -->\n---\nschedule: daily\n", "does not end", 3},
		"only the opening":        {"---", "does not end", 1},
		"comment not closed":      {"\n<!-- a\n---\nschedule: daily\n---\n", "HTML comment", 2},
		"TOML":                    {"+++\nschedule = \"daily\"\n+++\n", "TOML", 1},
		"TOML between dashes":     {"---toml\nschedule = \"daily\"\n---\n", "TOML", 1},
		"JSON":                    {"{\n\"schedule\": \"daily\"\n}\n\n", "JSON", 1},
		"JSON semicolons":         {";;;\n{}\n;;;\n", "JSON", 1},
		"JSON between dashes":     {"---json\n{}\n---\n", "JSON", 1},
		"YAML named":              {"---yaml\nschedule: daily\n---\n", "`---` alone", 1},
		"four dashes":             {"----\nschedule: daily\n----\n", "three dashes", 1},
		"a long dash":             {"—\nschedule: daily\n---\n", "three dashes", 1},
		"no opening":              {"schedule: daily\n---\n# Title\n", "without a line `---` before it", 1},
		"latin-1":                 {"---\nschedule: daily\n---\n\n# Caf\xe9\n", "UTF-8", 5},
		"latin-1 and CRLF":        {"---\r\nschedule: daily\r\n# \xe9\r\n---\r\n", "UTF-8", 3},
		"NUL":                     {"---\nschedule: daily\n---\na\x00b\n", "NUL", 4},
		"a list":                  {"---\n- schedule\n---\n", "no list of `key: value` lines", 2},
		"a text":                  {"---\nschedule\n---\n", "no list of `key: value` lines", 2},
		"no space":                {"---\nschedule:daily\n---\n", "no list of `key: value` lines", 2},
		"two colons":              {"---\nmetric: x\nschedule: a: b\n---\n", "no YAML", 3},
		"a tab":                   {"---\nbudget:\n\tusd: 1\n---\n", "no YAML", 3},
		"at sign":                 {"---\nmetric: x\nschedule: @daily\n---\n", "`schedule: \"@daily\"`", 3},
		"star":                    {"---\nschedule: */5 * * * *\n---\n", "`schedule: \"*/5 * * * *\"`", 2},
		"star with a comment": {
			"---\nschedule: */5 * * * * # often\n---\n",
			"`schedule: \"*/5 * * * *\" # often`", 2,
		},
		"star in a list": {"---\ntarget:\n  - src/a.go\n  - *.go\n---\n", "`- \"*.go\"`", 4},
		"star in a flow list": {
			"---\ntarget: [*.go, docs/, *.md]\n---\n",
			"`target: [\"*.go\", docs/, \"*.md\"]`", 2,
		},
		"alias":     {"---\nmetric: &a x\nmodel: *a\n---\n", "`model: \"*a\"`", 3},
		"anchor":    {"---\nmetric: &a x\n---\n", "anchors and aliases", 2},
		"merge key": {"---\nbudget: {<<: {usd: 1}}\n---\n", "", 2},
		"tag":       {"---\nmetric: !!str x\n---\n", "tags", 2},
		"same key":  {"---\nmetric: x\nmetric: y\n---\n", "given twice (`metric` on line 2)", 3},
		"both spellings": {
			"---\ntarget-metric: 1\ntarget_metric: 2\n---\n",
			"given twice (`target-metric` on line 2)", 3,
		},
		"both spellings, unknown": {"---\nmy-key: 1\nmy_key: 2\n---\n", "given twice", 3},
		"two documents":           {"---\nmetric: x\n...\nmetric: y\n---\n", "more than one document", 4},
		"large":                   {"---\nsetup: " + strings.Repeat("x", 40_000) + "\n---\n", "has at most 32768", 1},
		"deep":                    {"---\nbudget: " + strings.Repeat("[", 5000) + "\n---\n", "no YAML", 3},
		"deep sequences":          {"---\n" + strings.Repeat("- ", 5000) + "x\n---\n", "nested too deeply", 2},
		"rather deep": {
			"---\nbudget: " + strings.Repeat("[", 12) + strings.Repeat("]", 12) + "\n---\n",
			"nested too deeply", 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := parse(c.text)
			require.Error(t, p.Err())
			first := p.Errors()[0]
			assert.Contains(t, first.Message, c.says)
			assert.Equal(t, c.line, first.Line, first.String())
			assert.Equal(t, file, first.File)
			assert.NotContains(t, first.String(), "\n")
		})
	}
}

func TestLargeFile(t *testing.T) {
	p := program.Parse(file, []byte(strings.Repeat("a\n", program.MaxBytes)))
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
