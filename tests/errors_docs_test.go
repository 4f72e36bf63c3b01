package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestErrorsInTheDocumentationExist holds that each message that docs/errors.md
// quotes is one of the source.
func TestErrorsInTheDocumentationExist(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docs/errors.md")
	require.NoError(t, err)
	texts := messages(t)
	quotes := quotedMessages(string(data))
	require.Greater(t, len(quotes), 100)
	for _, quote := range quotes {
		assert.True(t, occurs(quote, texts), "docs/errors.md quotes what no source says: %s", quote)
	}
}

func TestMessagesThatDoNotExistAreFound(t *testing.T) {
	t.Parallel()
	texts := []string{"branch %s is checked out in %s; leave it", "plain"}
	assert.True(t, occurs("branch … is checked out in …; leave it", texts))
	assert.True(t, occurs("plain", texts))
	for _, wrong := range []string{"branch … is checked out at …; leave it", "… leave it … branch", "plain words", "…", ""} {
		assert.False(t, occurs(wrong, texts), wrong)
	}
	assert.Equal(t, []string{"a", "b `c` d"}, quotedMessages("| says | do |\n|---|---|\n| `a`, ``b `c` d`` | `e` |\n"))
}

// TestEveryErrorHasItsCure holds that each error and warning that begins in the
// source says itself what to do, or is quoted where the documentation does. One
// that hands on another error says as much as that does, and is left out.
func TestEveryErrorHasItsCure(t *testing.T) {
	t.Parallel()
	var quotes []string
	for _, page := range []string{"errors.md", "actions.md", "propose-publish.md"} {
		data, err := os.ReadFile(filepath.Join("../docs", page))
		require.NoError(t, err)
		quotes = append(quotes, quotedMessages(string(data))...)
	}
	made := madeMessages(t)
	require.Greater(t, len(made), 400)
	for _, m := range made {
		cured := saysWhatToDo(m.text) || slices.ContainsFunc(quotes, func(quote string) bool { return occurs(quote, []string{m.text}) })
		assert.True(t, cured, "%s: no page says what to do about: %s", m.at, m.text)
	}
}

func TestErrorsWithoutACureAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"%s is no slug; give one as in %s":   true,
		"%s exists already: remove it":       true,
		"git was not found; install it":      true,
		"%s is no slug":                      false,
		"read commit %s: there is none":      false,
		"the giver of %s is not known":       false,
		"%s and its name: nobody knows more": false,
	} {
		assert.Equal(t, want, saysWhatToDo(text), text)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", `package a
		var a = errors.New("number one")
		func f(err error) {
			fmt.Errorf("number two: %s", name)
			fmt.Errorf("handed on: %w", err)
			s.fail("handed on", err)
			s.fail(at, "number three")
			s.fail("place", "%s: ", name)
			Usagef("number four " + name)
			fmt.Sprintf("no error")
		}`, parser.SkipObjectResolution)
	require.NoError(t, err)
	assert.Equal(t, []string{"number one", "number two: %s", "number three", "number four "}, messagesMade(file))
}

// cure is an order to the reader: at the beginning of a clause or, for verbs that
// say what was being done as well (`read commit …: it is gone`), behind a semicolon.
var cure = regexp.MustCompile(`(?:^|[;:,(] |, or |, and |\. )(?:` +
	`add|begin|choose|correct|end|give|install|keep|leave|make|mend|name|pass|propose|put|quote|raise|remove|rename|replace|say|see|set|shorten|take|use|wait)\b` +
	`|; (?:call|change|check|close|create|delete|mark|merge|move|open|push|read|run|start|write)\b|, or (?:change|move|run|write)\b`)

func saysWhatToDo(text string) bool { return cure.MatchString(text) }

// verb is what a format fills in. What is one word without it is a place in a
// file, no message.
var verb = regexp.MustCompile(`%[-+#0-9.]*[a-z]`)

// message is a text of an error or a warning and where it is made.
type message struct{ at, text string }

// madeMessages are the messages that begin in the source.
func madeMessages(t *testing.T) []message {
	t.Helper()
	var list []message
	eachSource(t, func(path string, file *ast.File) {
		for _, text := range messagesMade(file) {
			list = append(list, message{path, text})
		}
	})
	return list
}

// messagesMade are the messages of the calls that make errors and warnings, but
// for those that hand on another error.
func messagesMade(file *ast.File) []string {
	var texts []string
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok || !makesMessages(call.Fun) {
			return true
		}
		handsOn := slices.ContainsFunc(call.Args, func(e ast.Expr) bool {
			name, ok := e.(*ast.Ident)
			return ok && name.Name == "err"
		})
		for _, argument := range call.Args {
			text, constant := constantText(argument)
			if constant && !handsOn && !strings.Contains(text, "%w") && strings.Contains(strings.TrimSpace(verb.ReplaceAllString(text, "")), " ") {
				texts = append(texts, text)
				break // what follows is filled in
			}
		}
		return true
	})
	return texts
}

// makesMessages says whether a function makes an error or a warning of its text.
func makesMessages(function ast.Expr) bool {
	switch f := function.(type) {
	case *ast.Ident:
		return slices.Contains([]string{"Usagef", "refuse", "fail", "warn"}, f.Name)
	case *ast.SelectorExpr:
		of, _ := f.X.(*ast.Ident)
		if of != nil && (of.Name == "errors" || of.Name == "fmt") {
			return f.Sel.Name == "New" && of.Name == "errors" || f.Sel.Name == "Errorf"
		}
		return slices.Contains([]string{"Usagef", "refuse", "fail", "warn"}, f.Sel.Name)
	}
	return false
}

var codeSpan = regexp.MustCompile("``(.+?)``|`([^`]+)`")

// quotedMessages are the code spans in the first columns of tables.
func quotedMessages(text string) []string {
	var quotes []string
	for line := range strings.Lines(text) {
		row, inTable := strings.CutPrefix(line, "| ")
		if !inTable {
			continue
		}
		first, _, _ := strings.Cut(row, " | ")
		for _, span := range codeSpan.FindAllStringSubmatch(first, -1) {
			quotes = append(quotes, strings.TrimSpace(span[1])+span[2])
		}
	}
	return quotes
}

// occurs says whether one text has what stands between the … of a quote, in
// that order.
func occurs(quote string, texts []string) bool {
	parts := strings.Split(quote, "…")
	if strings.Join(parts, "") == "" {
		return false
	}
next:
	for _, text := range texts {
		for _, part := range parts {
			_, after, found := strings.Cut(text, part)
			if !found {
				continue next
			}
			text = after
		}
		return true
	}
	return false
}

// messages are the string constants of the source, those that are joined as
// one, and the lines of the scripts and workflows.
func messages(t *testing.T) []string {
	t.Helper()
	var texts []string
	eachSource(t, func(_ string, file *ast.File) {
		ast.Inspect(file, func(node ast.Node) bool {
			expression, ok := node.(ast.Expr)
			if !ok {
				return true
			}
			text, constant := constantText(expression)
			if constant {
				texts = append(texts, text)
			}
			return !constant
		})
	})
	scripts, err := filepath.Glob("../workflows/*.*")
	require.NoError(t, err)
	for _, script := range scripts {
		data, err := os.ReadFile(script)
		require.NoError(t, err)
		if filepath.Ext(script) != ".go" {
			texts = append(texts, strings.Split(string(data), "\n")...)
		}
	}
	return texts
}

// eachSource visits the files of the packages that are no tests.
func eachSource(t *testing.T, visit func(path string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir("../internal", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "githubtest" || entry.Name() == "modeltest" || entry.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		visit(path, file)
		return nil
	})
	require.NoError(t, err)
}

// constantText is the text of a string, or of strings that are joined with
// anything between them.
func constantText(expression ast.Expr) (text string, constant bool) {
	switch e := expression.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		left, one := constantText(e.X)
		right, other := constantText(e.Y)
		return left + right, one || other
	default:
		return "", false
	}
}
