package cli

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// filePages are the files that programs read, from the structs that are written.
func filePages(t *testing.T, pages map[string]string) {
	for page, written := range map[string]struct {
		about string
		files []string
	}{
		"autoloop-json.md": {"# autoloop.json\n\n`scheduler` writes it, `iterate` without `--program` reads it. " +
			"Fields are only ever added.\n", []string{"../schedule/plan.go"}},
		"bundle.md": {"# The bundle of two jobs\n\n`iterate job propose` makes it, `iterate job publish` [verifies " +
			"it and records what it asks for](../howto/two-jobs.md). It is a directory of\n" +
			"`manifest.json`, the changed files as `change.json`, the [events](events.md) as `events.jsonl`, and " +
			"`SHA256SUMS` over all three.\n", []string{"../loop/proposal/bundle.go"}},
		"events.md": {"# Events of the ledger\n\n[The ledger](ledger.md) has one event as JSON a line. Every event " +
			"has `schema`, `event` (the kind), `time`, `run_id` and `iteration`.\n", []string{
			"../history/event.go", "../history/values.go", "../history/executor.go", "../history/expense.go",
			"../metric/usage.go", "../decision/reason.go",
		}},
	} {
		all := forms(t, written.files...)
		text := written.about
		for _, f := range all {
			text += fmt.Sprintf("\n## %s\n\n%s\n\n%s", f.name, f.about, f.list(t, all))
		}
		pages[page] = text
	}
}

// form is an object that is written as JSON, and formRow a field of it; one
// without a name has the fields of another object in its place.
type form struct {
	name, about string
	rows        []formRow
}

type formRow struct{ name, kind, meaning string }

func (f form) meaning(field string) string {
	at := slices.IndexFunc(f.rows, func(r formRow) bool { return r.name == field })
	if at < 0 {
		return ""
	}
	return f.rows[at].meaning
}

// list is the fields as a list; a field that is an object links to it. Fields that mean
// what they mean elsewhere are named with that place.
func (f form) list(t *testing.T, all []form) string {
	out, embedded := "", []string(nil)
	elsewhere := map[string][]string{}
	for _, row := range f.rows {
		kind := ""
		if slices.ContainsFunc(all, func(f form) bool { return f.name == row.kind }) {
			kind = linkToForm(row.kind)
		}
		switch {
		case row.name == "":
			require.NotEmpty(t, kind, "%s in %s", row.kind, f.name)
			embedded = append(embedded, kind)
		case row.meaning == "":
			at := slices.IndexFunc(all, func(f form) bool { return f.meaning(row.name) != "" })
			require.GreaterOrEqual(t, at, 0, "%s in %s: give the field a comment", row.name, f.name)
			elsewhere[all[at].name] = append(elsewhere[all[at].name], "`"+row.name+"`")
		case kind != "":
			out += fmt.Sprintf("- `%s` (%s): %s\n", row.name, kind, row.meaning)
		default:
			out += fmt.Sprintf("- `%s`: %s\n", row.name, row.meaning)
		}
	}
	for _, other := range all {
		if names := elsewhere[other.name]; names != nil {
			out += fmt.Sprintf("- as in %s: %s\n", linkToForm(other.name), strings.Join(names, ", "))
		}
	}
	if embedded != nil {
		out += fmt.Sprintf("- all of %s\n", strings.Join(embedded, ", "))
	}
	return out
}

func linkToForm(name string) string {
	return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
}

// forms are the exported structs of files that are written as JSON.
func forms(t *testing.T, files ...string) []form {
	t.Helper()
	var all []form
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, declared := range file.Decls {
			group, is := declared.(*ast.GenDecl)
			if !is || group.Tok != token.TYPE || group.Doc == nil {
				continue
			}
			spec := group.Specs[0].(*ast.TypeSpec) //nolint:errcheck // of a declaration of a type
			if object, is := spec.Type.(*ast.StructType); is && spec.Name.IsExported() {
				if f := (form{spec.Name.Name, words(group.Doc), formRows(object)}); slices.ContainsFunc(f.rows,
					func(r formRow) bool { return r.name != "" }) {
					all = append(all, f)
				}
			}
		}
	}
	return all
}

func formRows(object *ast.StructType) []formRow {
	var rows []formRow
	names := map[string]string{}
	for _, field := range object.Fields.List {
		kind := typeName(field.Type)
		if field.Tag == nil && len(field.Names) == 0 {
			rows = append(rows, formRow{kind: kind})
		}
		if field.Tag != nil {
			tag, _ := strconv.Unquote(field.Tag.Value)
			if name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ","); name != "-" {
				names[field.Names[0].Name] = name
				meaning := words(field.Doc) + words(field.Comment)
				for _, begins := range []string{" is ", " are ", ", ", " "} {
					meaning = strings.TrimPrefix(meaning, field.Names[0].Name+begins)
				}
				rows = append(rows, formRow{name, kind, meaning})
			}
		}
	}
	for i := range rows { // readers know the fields by their names in JSON
		rows[i].meaning = regexp.MustCompile(`\b[A-Z]\w+\b`).ReplaceAllStringFunc(rows[i].meaning,
			func(word string) string {
				if name := names[word]; name != "" && name != rows[i].name {
					return "`" + name + "`"
				}
				return word
			})
		rows[i].meaning = strings.NewReplacer(" nil ", " null ", "Nil ", "Null ", `""`,
			"empty").Replace(rows[i].meaning)
	}
	return rows
}

// typeName is the name of a type, or of what it points to or lists.
func typeName(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return typeName(expr.X)
	case *ast.ArrayType:
		return typeName(expr.Elt)
	case *ast.SelectorExpr:
		return expr.Sel.Name
	case *ast.Ident:
		return expr.Name
	default:
		return ""
	}
}

// words is the first paragraph of a comment as one line for a table.
func words(comment *ast.CommentGroup) string {
	text, _, _ := strings.Cut(comment.Text(), "\n\n")
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", "\\|")
}
