package loop

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestChangesOfRecordsChangeNothingElse: what changes records is run again when another run
// wrote first, so it may assign to the records and to what it declares itself, and to
// nothing that outlives it.
func TestChangesOfRecordsChangeNothingElse(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	held := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			of, body := function(node)
			if method, is := node.(*ast.FuncDecl); is && method.Recv != nil && isRecords(method.Recv.List[0].Type) {
				all := slices.Concat(method.Recv.List, of.Params.List)
				of = &ast.FuncType{Params: &ast.FieldList{List: all}, Results: of.Results}
			}
			if body == nil || !takesRecords(of) {
				return true
			}
			held++
			for _, at := range assignsOutside(of, body) {
				assert.Fail(t, "what outlives the change is assigned to", "%s", files.Position(at))
			}
			return true
		})
	}
	assert.Greater(t, held, 30)
	for text, found := range map[string]int{
		"func(b *records) { b.x = 1; own := 2; own++; for i, own := range b.list { own.y, i = 3, 4 } }": 0,
		"func(b *records) { r.x = 1 }":                  1,
		"func(b *records) { seen++ }":                   1,
		"func(b *records) { _, r.x[1].y = 1, 2 }":       1,
		"func(b *records, p *proposal) { p.Value = 1 }": 1,
		"func(b *records, e event) { e.Value = 1 }":     0,
		"func(b *records) { func() { r.x = 1 }() }":     1,
	} {
		node, err := parser.ParseExpr(text)
		require.NoError(t, err)
		of, body := function(node)
		assert.Len(t, assignsOutside(of, body), found, text)
	}
}

func function(node ast.Node) (*ast.FuncType, *ast.BlockStmt) {
	switch f := node.(type) {
	case *ast.FuncDecl:
		return f.Type, f.Body
	case *ast.FuncLit:
		return f.Type, f.Body
	}
	return nil, nil
}

func takesRecords(of *ast.FuncType) bool {
	for _, field := range of.Params.List {
		if isRecords(field.Type) {
			return true
		}
	}
	return false
}

func isRecords(of ast.Expr) bool {
	pointer, is := of.(*ast.StarExpr)
	if !is {
		return false
	}
	name, is := pointer.X.(*ast.Ident)
	return is && name.Name == "records"
}

// assignsOutside are the assignments to what a function neither takes as a value nor
// declares, but for its records.
func assignsOutside(of *ast.FuncType, body *ast.BlockStmt) []token.Pos {
	own := map[string]bool{"_": true}
	declare := func(exprs ...ast.Expr) {
		for _, e := range exprs {
			if name, is := e.(*ast.Ident); is {
				own[name.Name] = true
			}
		}
	}
	for _, list := range []*ast.FieldList{of.Params, of.Results} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			if _, pointer := field.Type.(*ast.StarExpr); pointer && !isRecords(field.Type) && list == of.Params {
				continue
			}
			for _, name := range field.Names {
				declare(name)
			}
		}
	}
	var assigned []ast.Expr
	ast.Inspect(body, func(node ast.Node) bool {
		switch s := node.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				declare(s.Lhs...)
			} else {
				assigned = append(assigned, s.Lhs...)
			}
		case *ast.IncDecStmt:
			assigned = append(assigned, s.X)
		case *ast.RangeStmt:
			if s.Tok == token.DEFINE {
				declare(s.Key, s.Value)
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				declare(name)
			}
		}
		return true
	})
	var outside []token.Pos
	for _, e := range assigned {
		if !own[rootOf(e)] {
			outside = append(outside, e.Pos())
		}
	}
	return outside
}

// rootOf is the name that what is assigned to begins with.
func rootOf(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return ""
		}
	}
}
