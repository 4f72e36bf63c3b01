package commandline

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNobodyElseKnowsAnAgentByItsName: what an agent does differently is in its
// descriptor.
func TestNobodyElseKnowsAnAgentByItsName(t *testing.T) {
	t.Parallel()
	var names []string
	for _, d := range All() {
		names = append(names, d.Name, d.Program, d.Skills)
		names = append(names, d.Keys...)
		names = append(names, d.Private...)
	}
	internal := filepath.Join("..", "..")
	exempt := []string{
		filepath.Join(internal, "agent", "commandline"),
		// The keys of model APIs, which are also those of agents.
		filepath.Join(internal, "agent", "models"), filepath.Join(internal, "agent", "project.go"),
	}
	files := 0
	err := filepath.WalkDir(internal, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || slices.Contains(exempt, file) && entry.IsDir() {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || slices.Contains(exempt, file) {
			return nil
		}
		files++
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(parsed, func(node ast.Node) bool {
			if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text, err := strconv.Unquote(literal.Value)
				require.NoError(t, err)
				assert.NotContains(t, names, text, "%s: ask commandline.All() instead", file)
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	assert.Greater(t, files, 300)
}
