package tests

import (
	"bytes"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	markdown "github.com/yuin/goldmark/text"

	"github.com/org/autoloop/tests/long"
)

// proofread are the pages that people read. Those of the reference hold what the commands
// say of themselves and the cures of errors.
func proofread(t *testing.T) []string {
	t.Helper()
	return append(docPages(t), "../CONTRIBUTING.md", "../CHANGELOG.md", "../programs/README.md")
}

// TestEveryWordIsSpelledRight by a dictionary of American English and the words of the
// field in testdata/words.txt.
func TestEveryWordIsSpelledRight(t *testing.T) {
	t.Parallel()
	hunspell, err := exec.LookPath("hunspell")
	if err != nil || exec.CommandContext(t.Context(), hunspell, "-d", "en_US", "-l").Run() != nil {
		long.Missing(t, "hunspell and its dictionary en_US")
	}
	data := readText(t, "testdata/words.txt")
	field := strings.Fields(data)
	assert.True(t, slices.IsSorted(field), "testdata/words.txt is not sorted")
	unknown := func(words []string) []string {
		cmd := exec.CommandContext(t.Context(), hunspell, "-d", "en_US", "-i", "UTF-8", "-l")
		cmd.Stdin = strings.NewReader(strings.Join(words, "\n") + "\n")
		var problems bytes.Buffer
		cmd.Stderr = &problems
		out, err := cmd.Output()
		require.NoError(t, err, problems.String())
		require.Empty(t, problems.String())
		return slices.DeleteFunc(strings.Fields(string(out)),
			func(word string) bool { return slices.Contains(field, strings.ToLower(word)) })
	}
	assert.Equal(t, []string{"Meazure", "colour"}, unknown(proseWords(`# Meazure of a [colour](receeve.md)
A token's job: `+"`xyzzyx`"+`, --quux, a/quux, quux.md, QUUX, quuxBaz, <b title="quux">, re-read it.

`+"```sh\nquux\n```\n", false)))

	pages := map[string]string{}
	var words []string
	for _, page := range proofread(t) {
		data := readText(t, page)
		for _, word := range proseWords(data, strings.Contains(page, "/reference/commands.md")) {
			if pages[word] == "" {
				pages[word] = page
				words = append(words, word)
			}
		}
	}
	require.Greater(t, len(words), 1000)
	for _, word := range unknown(words) {
		assert.Fail(t, "a word that no dictionary has",
			"%s (%s): correct it, or enter it in tests/testdata/words.txt if the field has it", word, pages[word])
	}
}

var (
	// notProse is a path, an option, a file, an address, a number or an example.
	notProse = regexp.MustCompile(`^-|[/_=.@$%{}<>0-9\\]`)
	wordOf   = regexp.MustCompile(`\p{L}+(?:'\p{L}+)?`)
	// abbreviated is written in capitals, or is a name with one within.
	abbreviated = regexp.MustCompile(`^\p{Lu}+$|\p{Ll}\p{Lu}`)
)

// proseWords are the words of a page's text. What --help prints is text too.
func proseWords(page string, help bool) []string {
	source := []byte(page)
	var prose strings.Builder
	_ = ast.Walk(goldmark.DefaultParser().Parse(markdown.NewReader(source)),
		func(node ast.Node, entering bool) (ast.WalkStatus, error) {
			switch node := node.(type) {
			case *ast.CodeSpan, *ast.AutoLink, *ast.RawHTML, *ast.HTMLBlock, *ast.CodeBlock:
				prose.WriteString(" ")
				return ast.WalkSkipChildren, nil
			case *ast.FencedCodeBlock:
				if help && entering {
					prose.Write(node.Lines().Value(source))
				}
				return ast.WalkSkipChildren, nil
			case *ast.Text:
				if entering {
					prose.Write(node.Segment.Value(source))
				}
				if node.SoftLineBreak() {
					prose.WriteString("\n")
				}
			}
			if !entering && node.Type() == ast.TypeBlock {
				prose.WriteString("\n")
			}
			return ast.WalkContinue, nil
		})
	var words []string
	for _, token := range strings.Fields(strings.NewReplacer("’", "'", "|", " ", "…", " ").Replace(prose.String())) {
		token = strings.Trim(token, "()[]\"“”*,;:!?.'`")
		if notProse.MatchString(token) {
			continue
		}
		for _, word := range wordOf.FindAllString(token, -1) {
			word = strings.TrimSuffix(word, "'s")
			if len(word) > 1 && !abbreviated.MatchString(word) {
				words = append(words, word)
			}
		}
	}
	return words
}
