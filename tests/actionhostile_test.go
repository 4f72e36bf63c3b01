package tests

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// ownCommand is what the runner may find in the log: groups of the action, and
// annotations whose values are escaped.
var ownCommand = regexp.MustCompile(
	`^(::group::(Get Autoloop|Find what is due|Begin|Iterate|Propose|Publish|Read what was said|Validate)|::endgroup::|` +
		`::(error|warning) (file=[^,:]*,(line=\d+,)?)?title=[^,:]*(%3A[^,:]*)*::.*)$`,
)

// onlyOurs holds a step to what no text of others may change.
func (s actionStep) onlyOurs(t *testing.T, trap string) {
	t.Helper()
	for _, line := range commandsOf(s.log) {
		assert.Regexp(t, ownCommand, line)
		assert.NotRegexp(t, `%0[AD]`, line, "a text's own escapes are text")
	}
	assert.NoFileExists(t, trap)
	assert.NotContains(t, s.log+s.summary+s.raw, hubToken)
	for name := range s.outputs {
		assert.Contains(t, []string{
			"has-work", "selected", "matrix", "outcome", "verdict", "metric", "best-metric", "pr-number",
			"issue-number",
			"bundle", "report", "source", "modules", "modules-key",
		}, name)
	}
	for _, markup := range []string{"<b>", "@octocat", "[x](javascript", "<!--", "\n# ", "\n::", "\n- [ ]"} {
		assert.NotContains(t, s.summary, markup)
	}
}

// hostileLine is one line of text that is something else to whoever reads it as
// code.
func hostileLine(trap string) string {
	return "::set-output name=x::evil ##[add-mask]m <b> @octocat [x](javascript:1) <!-- | --> ${{ github.token }} " +
		"%0A::error::forged %25 $(touch " + trap + ") `touch " + trap + "`"
}

// TestActionObeysNoText: titles, programs, agents, evaluations and comments are
// made of commands of shell, workflow and log, and change nothing but their own text.
func TestActionObeysNoText(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	r := newReleases(t)
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9", "8", "fail")
	trap := filepath.Join(h.side, "trap")
	line := hostileLine(trap)
	said := line + "\n\n# heading\n- [ ] item\n" + line + "\n"
	h.aside("said", said)
	text := strings.NewReplacer(
		"  echo \"try $value, says @octocat <b>\"", "  cat \"$SIDE/said\"; cat \"$SIDE/said\" >&2",
		"Move the number.", "Move it. "+line,
		"printf '{\"m\"", "cat \"$SIDE/said\" >&2; cat \"$SIDE/said\"; printf '{\"m\"",
	).Replace(onIssue)
	title := line
	h.site.open("alice", title, text, "autoloop-program")
	h.site.open("mallory", line+" of a stranger", text, "autoloop-program")
	h.write(".autoloop/programs/bad.md",
		"---\nschedule: '"+strings.ReplaceAll(line, "'", "")+"'\n\"x"+strings.ReplaceAll(line, "\"", "")+
			"\": 1\nmetric-range: "+line+"\n---\n## Goal\n"+line+"\n")
	h.write(".autoloop/programs/$(touch trap),file=x:line.md", onIssue)
	h.git("add", "--all")
	h.git("commit", "--quiet", "--message", "Add "+line)
	h.git("push", "--quiet", "origin", "main")
	with := func(mode string, more ...string) map[string]string {
		inputs := map[string]string{
			"MODE": mode, "+GITHUB_SERVER_URL": r.URL, "+GITHUB_REF_NAME": line,
			"+GITHUB_HEAD_REF": line,
		}
		for i := 0; i+1 < len(more); i += 2 {
			inputs[more[i]] = more[i+1]
		}
		return inputs
	}

	step := h.action(r, with("run"))
	require.Zero(t, step.code, step.log)
	step.onlyOurs(t, trap)
	name := step.outputs["selected"]
	assert.Regexp(t, `^[a-z0-9][a-z0-9._-]{0,63}$`, name)
	assert.Equal(t, "accepted", step.outputs["outcome"])
	assert.Equal(t, "1", step.outputs["issue-number"])
	assert.NotEmpty(t, step.outputs["pr-number"])
	assert.Contains(t, strings.Join(step.annotations(), "\n"),
		"::error file=.autoloop/programs/bad.md,line=2,title=Autoloop%3A bad::")
	assert.Contains(t, strings.Join(step.annotations(), "\n"),
		"::warning file=.autoloop/programs/bad.md,line=3,title=Autoloop::unknown key ")
	assert.Contains(t, step.summary, "::set-output name=x::evil", "text stays text")
	assert.Contains(t, step.summary, "/pull/"+step.outputs["pr-number"])

	h.say("alice", line+"\n/autoloop "+line)
	step = h.action(r, with("steer", "PROGRAM", name))
	require.Zero(t, step.code, step.log)
	step.onlyOurs(t, trap)

	step = h.action(r, with("begin", "PROGRAM", name))
	require.Zero(t, step.code, step.log)
	step.onlyOurs(t, trap)
	step = h.action(r, with("propose", "PROGRAM", name))
	require.Zero(t, step.code, step.log)
	step.onlyOurs(t, trap)
	step = h.action(r, with("publish", "PROGRAM", name))
	require.Zero(t, step.code, step.log)
	step.onlyOurs(t, trap)
	assert.Equal(t, "8", step.outputs["best-metric"])

	step = h.action(r, with("iterate", "PROGRAM", name))
	require.Zero(t, step.code, step.log)
	step.onlyOurs(t, trap)
	assert.Equal(t, "error", step.outputs["outcome"])
	assert.NotEmpty(t, step.annotations(), "an iteration that ends in an error is annotated")

	step = h.action(r, with("validate"))
	assert.Equal(t, 1, step.code, step.log)
	step.onlyOurs(t, trap)
	step = h.action(r, with("run", "PROGRAM", "bad"))
	assert.Equal(t, 2, step.code, step.log)
	step.onlyOurs(t, trap)
}

// TestCommandsOfTheLog: the reader of these tests sees what the runner obeys.
func TestCommandsOfTheLog(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"::a::", "x ##[b]", "::c::"},
		commandsOf("::a::\nx ##[b]\n::stop-commands::tok\n::d::\n##[e]\n::tok::\n \t::c::\n"))
	assert.Equal(t, map[string]string{"a": "b<<c", "d": "e\nf=g"}, outputsOf(t, "a=b<<c\nd<<end\ne\nf=g\nend\n"))
}
