package render_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	source "github.com/yuin/goldmark/text"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/render"
)

// hostileWords are what an agent, an evaluation, CI or a person might say.
func hostileWords() map[string]string {
	return map[string]string{
		"HTML":          `<img src=x onerror=alert(1)></details></td><script>alert(1)</script>`,
		"a mention":     "thanks @octocat and @org/team, cc: @octocat",
		"closing":       "Fixes #1, closes org/repo#2, resolves https://github.com/org/repo/issues/3",
		"our mark":      "<!-- AUTOLOOP:STATUS -->\n<!-- AUTOLOOP:PULL END -->",
		"control marks": "a\x1b[31mb\x00c\rd\u202ee\u2066f\u200fg\x07",
		"a long line":   strings.Repeat("long ", 200_000),
		"backticks":     "``` `x` ```` ~~~~\n```\n# heading\n",
		"links": "[x](javascript:alert(1)) ![p](http://evil.example/p.png) " +
			"<http://evil.example> [y]: http://evil.example",
		"a table":         "a | b |\n| --- | --- |\n| c | d",
		"lines and lists": "a\n\n- b\n\n> c\n\n    d\n\n---\ne",
	}
}

// ours are the texts that we make ourselves, of numbers and of names that were checked, and
// a patch, which stands in a fence as it is.
var ours = []string{
	"Run", "Commit", "Incumbent", "Gain", "Reason", "Recommendation", "NextSteps", "Notes", "Mode",
	"What", "Diff",
}

// say fills every text of a value that is no word of ours with the same words.
func say(v reflect.Value, words string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			say(v.Elem(), words)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			isText := field.Type.Kind() == reflect.String || field.Type == reflect.TypeFor[[]string]()
			if field.IsExported() && (!isText || !slices.Contains(ours, field.Name)) {
				say(v.Field(i), words)
			}
		}
	case reflect.Slice:
		if v.Type().Elem() == reflect.TypeFor[string]() {
			v.Set(reflect.ValueOf([]string{words, words}))
		}
		for i := range v.Len() {
			say(v.Index(i), words)
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() && v.CanSet() {
			v.SetString(words)
		}
	default:
	}
}

// TestHostileWordsAreHarmless puts hostile words into every field of every event, and holds
// what each writer makes of them: as GitHub reads it there is no markup in it but ours.
func TestHostileWordsAreHarmless(t *testing.T) {
	t.Parallel()
	for name, words := range hostileWords() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := account(t)
			decided := a.Attempts[0].Decided
			decided.Failing = []history.Check{{}}
			decided.Lessons, decided.Ideas, decided.Foreclosed = []string{""}, []string{""}, []string{""}
			decided.Changed = []string{""}
			a.Events = append(a.Events, &history.Paused{})
			for _, event := range a.Events {
				say(reflect.ValueOf(event), words)
			}
			add(&a)
			a.Warnings = []string{words}
			for writer, body := range map[string]string{
				"status": render.Status(a), "pull": render.Pull(a, 4), "kept": render.Iteration(a, decided),
				"not kept": render.Iteration(a, a.Attempts[1].Decided), "error": render.Iteration(a, a.Attempts[2].Decided),
				"notice": render.Notice(a, 1, "paused", words, nil),
				"check":  render.Check("speed", words, words, false), "summary": render.Summary(a),
			} {
				harmless(t, writer, body)
			}
			compared := comparison(t)
			say(reflect.ValueOf(&compared.Comparison), words)
			say(reflect.ValueOf(&compared.Baseline), words)
			say(reflect.ValueOf(&compared.Candidate), words)
			harmless(t, "comparison", compared.Markdown())
			plainText(t, "comparison", compared.Text())
			escaped(t, compared.HTML())
			report := render.NewSkillReport(render.SkillReport{
				RegressedCases: []string{""}, Failures: []render.SkillFailure{{}}, Changes: []render.SkillChange{{}},
				Cases: []render.SkillCase{{}}, Feedback: []render.SkillFeedback{{}},
				Triggers: []render.SkillTriggers{{Failures: []render.SkillFailure{{}}}},
			}, rowsOf("0.5 +0.6"), false, true)
			say(reflect.ValueOf(&report), words)
			harmless(t, "skill report", report.Markdown())
			plainText(t, "skill report", report.Text())
			escaped(t, report.HTML())
			harmless(t, "title", render.PullTitle(a))
			assert.NotContains(t, render.PullTitle(a), "\n")
			table := render.LogTable(a)
			plainText(t, "log", table.String())
			assert.Equal(t, 1+len(table.Rows), strings.Count(table.String(), "\n"), table)
			plainText(t, "one iteration", render.Detail(a.Attempts[0]))
		})
	}
}

// escaped has no markup of others, and nothing that turns letters round.
func escaped(t *testing.T, page string) {
	t.Helper()
	for _, tag := range regexp.MustCompile(`<[^>]*>`).FindAllString(page, -1) {
		require.Regexp(t, `^</?(h[12]|p|[uo]l|li|table|thead|tbody|tr|t[hd]( align="right")?|strong|pre|`+
			`code( class="language-diff")?)>$`, tag)
	}
	plainText(t, "page", page)
}

// plainText has nothing that moves a terminal's cursor or turns letters round.
func plainText(t *testing.T, writer, body string) {
	t.Helper()
	for _, r := range body {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			assert.Fail(t, "a control mark", "%s: %q in %.300q", writer, r, body)
			return
		}
	}
}

// harmless is Markdown without markup of others, as goldmark reads it.
func harmless(t *testing.T, writer, body string) {
	t.Helper()
	plainText(t, writer, body)
	assert.LessOrEqual(t, len(body), 65536, writer)
	bytes := []byte(body)
	marks := 0
	parser := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
	require.NoError(t, ast.Walk(parser.Parse(source.NewReader(bytes)),
		func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				return ast.WalkContinue, nil
			}
			switch n := n.(type) {
			case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.CodeSpan:
				return ast.WalkSkipChildren, nil
			case *ast.Image, *ast.AutoLink:
				assert.Fail(t, "an image or a link", "%s: %.600q", writer, body)
			case *ast.Link:
				assert.True(t, strings.HasPrefix(string(n.Destination), "https://github.test/"),
					"%s leads to %s", writer,
					n.Destination)
			case *ast.RawHTML:
				marks += ourHTML(t, writer, string(n.Segments.Value(bytes)))
			case *ast.HTMLBlock:
				marks += ourHTML(t, writer, string(n.Lines().Value(bytes)))
			case *ast.Text:
				words := string(n.Segment.Value(bytes))
				assert.NotRegexp(t, `(^|[^\w/])@(octocat|org)\b`, words, writer)
				assert.NotRegexp(t, `#[123]\b|https://github.com/org`, words, writer)
			}
			return ast.WalkContinue, nil
		}))
	assert.LessOrEqual(t, marks, 2, "%s has marks of others: %.600q", writer, body)
}

// ourHTML counts our marks in HTML, which is nothing else but what folds details.
func ourHTML(t *testing.T, writer, html string) (marks int) {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSpace(html), "\n") {
		if strings.HasPrefix(line, "<!-- AUTOLOOP:") {
			marks++
			continue
		}
		assert.Regexp(t, `^(</?details>|<details><summary>[^<>]*</summary>|</summary>|<summary>)?$`, line, writer)
	}
	return marks
}
