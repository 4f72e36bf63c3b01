package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
