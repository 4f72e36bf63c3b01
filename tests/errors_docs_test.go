package tests

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/cure"
)

// TestEveryCodeIsUsed holds that each error code ends a message of the source, that
// the example on its page is such a message, and that messages name codes that exist.
func TestEveryCodeIsUsed(t *testing.T) {
	t.Parallel()
	codes := map[cure.Code]string{} // their names in the source
	marked := map[string][]string{} // the messages that end with each
	for _, s := range sources(t) {
		ast.Inspect(s.syntax, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.ValueSpec:
				if kind, named := n.Type.(*ast.Ident); s.pkg == "internal/cure" && named && kind.Name == "Code" {
					text, _ := constantText(n.Values[0])
					codes[cure.Code(text)] = n.Names[0].Name
				}
			case *ast.CallExpr:
				if method, is := n.Fun.(*ast.SelectorExpr); is {
					if code, is := method.X.(*ast.SelectorExpr); is && isNamed(code.X, "cure") {
						marked[code.Sel.Name] = append(marked[code.Sel.Name], messageOf(n))
					}
				}
			case *ast.BasicLit:
				if text, constant := constantText(n); constant && s.pkg != "internal/cure" && s.pkg != "internal/cli" {
					assert.NotRegexp(t, `AL\d{4}`, text, "%s: name the code by its constant", s.file)
				}
			}
			return true
		})
	}
	for _, entry := range cure.All() {
		name := codes[entry.Code]
		require.NotEmpty(t, name, entry.Code)
		require.NotEmpty(t, marked[name], "no message ends with %s (%s)", entry.Code, name)
		assert.True(t, isExampleOf(entry.Example, marked[name]), "the example of %s differs from all its messages: %q", entry.Code, marked[name])
	}
	assert.Len(t, codes, len(cure.All()))
}

func TestExamplesThatAreNotMessagesAreFound(t *testing.T) {
	t.Parallel()
	messages := []string{"branch %s is checked out in %q; leave it", "plain"}
	assert.True(t, isExampleOf("x: branch a is checked out in \"b\"; leave it (AL0101)", messages))
	assert.True(t, isExampleOf("it is plain", messages))
	assert.True(t, isExampleOf("branch a is checked out in …", messages))
	assert.True(t, isExampleOf("anything", []string{""}), "a message that is put together elsewhere")
	assert.False(t, isExampleOf("branch a is checked out at b; leave it", messages))
	assert.False(t, isExampleOf("branch a …", []string{"%s %s"}))
}

var verb = regexp.MustCompile(`%[-+# 0]*[\d.]*[a-zA-Z]`)

// isExampleOf says whether an example has the constant parts of one of the messages in
// their order; one that has … in it, those before it.
func isExampleOf(example string, messages []string) bool {
next:
	for _, message := range messages {
		if message == "" {
			return true
		}
		rest, found := example, false
		for _, part := range verb.Split(message, -1) {
			_, after, has := strings.Cut(rest, part)
			cut := strings.Contains(rest, "…") && found
			if !has && cut {
				break
			}
			if !has {
				continue next
			}
			rest, found = after, found || len(part) > 4
		}
		if found {
			return true
		}
	}
	return false
}

// messageOf is the constant text of a message that a code is given to, "" when that
// is put together elsewhere.
func messageOf(call *ast.CallExpr) string {
	if len(call.Args) == 0 {
		return ""
	}
	argument := call.Args[0]
	if inner, is := argument.(*ast.CallExpr); is && len(inner.Args) > 0 {
		argument = inner.Args[0] // of fmt.Sprintf
	}
	text, _ := constantText(argument)
	if len(verb.ReplaceAllString(text, "")) < 5 {
		return "" // it is put together elsewhere
	}
	return text
}

func isNamed(expression ast.Expr, name string) bool {
	named, is := expression.(*ast.Ident)
	return is && named.Name == name
}

// constantText is the text of a string, or of strings that are joined with
// anything between them, for which %s stands.
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
		if !one || !other {
			return left + "%s" + right, one || other
		}
		return left + right, true
	default:
		return "", false
	}
}
