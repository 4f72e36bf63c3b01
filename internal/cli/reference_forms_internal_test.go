package cli

import (
	"go/ast"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// formRow is a field of an object that is written as JSON; one without a name has the
// fields of another object in its place.
type formRow struct{ name, kind, meaning string }

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

// words is the first paragraph of a comment as one line.
func words(comment *ast.CommentGroup) string {
	text, _, _ := strings.Cut(comment.Text(), "\n\n")
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", "\\|")
}
