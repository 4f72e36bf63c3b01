package cli

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/tests/golden"
)

type object = map[string]any

// TestSchemas holds docs/reference/schemas against the structs that are written. With
// -update it writes them.
func TestSchemas(t *testing.T) {
	t.Parallel()
	schemas := map[string]object{
		"autoloop": newSchemas(t, "../schedule/plan.go", "../program/problem.go").of("Plan"),
		"bundle": newSchemas(t, slices.Concat([]string{"../loop/proposal.go", "../loop/bundle.go"},
			eventFiles)...).of("Proposal"),
		"outcome":   newSchemas(t, "../suite/tasks/outcome.go").of("writtenOutcome"),
		"workspace": newSchemas(t, "../skill/workspace.go", "../history/executor.go").of("workspaceJSON"),
		"snapshot":  newSchemas(t, "../skill/manifest.go").of("manifestJSON"),
		"grading":   newSchemas(t, "../suite/grading.go").of("writtenGrading"),
		"iteration": iterationSchema(t),
		"results":   resultsSchema(t),
		"state":     stateSchema(t),
	}
	for name, schema := range schemas {
		schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
		text, err := json.MarshalIndent(schema, "", "  ")
		require.NoError(t, err)
		file := filepath.Join(referenceDir, "schemas", name+".schema.json")
		if golden.Updating() {
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, append(text, '\n'), 0o644))
		}
		have, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, string(text)+"\n", string(have), "run: go test ./internal/cli -run TestSchemas -update")
	}
	files, err := filepath.Glob(filepath.Join(referenceDir, "schemas", "*"))
	require.NoError(t, err)
	assert.Len(t, files, len(schemas), "nothing makes one of them any more: remove it")
}

// schemas are made of the structs of files.
type schemas struct {
	t     *testing.T
	types map[string]*ast.TypeSpec
	names []string // of the types, in their order
	about map[string]string
	used  object
}

func newSchemas(t *testing.T, files ...string) *schemas {
	t.Helper()
	s := &schemas{t: t, types: map[string]*ast.TypeSpec{}, about: map[string]string{}, used: object{}}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, declared := range file.Decls {
			group, is := declared.(*ast.GenDecl)
			if !is || group.Tok != token.TYPE {
				continue
			}
			for _, spec := range group.Specs {
				spec := spec.(*ast.TypeSpec) //nolint:errcheck // of a declaration of types
				s.types[spec.Name.Name] = spec
				s.names = append(s.names, spec.Name.Name)
				s.about[spec.Name.Name] = words(group.Doc)
			}
		}
	}
	return s
}

// of is the schema of the first of some structs, with all of them as definitions.
func (s *schemas) of(names ...string) object {
	s.t.Helper()
	for _, name := range names {
		s.define(name)
	}
	return object{"$ref": "#/$defs/" + names[0], "$defs": s.used}
}

// define adds a struct to what is used; the fields are nil for one that is there.
func (s *schemas) define(name string) (fields object) {
	if s.used[name] != nil {
		return nil
	}
	fields = object{}
	required := []string{}
	schema := object{"type": "object", "properties": fields}
	if s.about[name] != "" {
		schema["description"] = s.about[name]
	}
	s.used[name] = schema
	s.fields(name, fields, &required)
	slices.Sort(required)
	schema["required"] = required
	return fields
}

func (s *schemas) fields(name string, fields object, required *[]string) {
	s.t.Helper()
	require.Contains(s.t, s.types, name)
	if of, is := s.types[name].Type.(*ast.Ident); is {
		s.fields(of.Name, fields, required)
		return
	}
	declared, is := s.types[name].Type.(*ast.StructType)
	require.True(s.t, is, name)
	meanings := map[string]string{}
	for _, row := range formRows(declared) {
		meanings[row.name] = row.meaning
	}
	for _, field := range declared.Fields.List {
		if field.Tag == nil {
			if len(field.Names) == 0 {
				s.fields(typeName(field.Type), fields, required)
			}
			continue
		}
		text, _ := strconv.Unquote(field.Tag.Value)
		key, options, _ := strings.Cut(reflect.StructTag(text).Get("json"), ",")
		if key == "-" || fields[key] != nil { // what embeds it has its own
			continue
		}
		kind := s.kind(field.Type)
		_, pointer := field.Type.(*ast.StarExpr)
		if options == "" {
			*required = append(*required, key)
			if pointer {
				kind = object{"anyOf": []any{kind, object{"type": "null"}}}
			}
		}
		meaning := meanings[key]
		if meaning == "" && s.isEvent(name) {
			meaning = s.elsewhere(key)
			require.NotEmpty(s.t, meaning, "%s in %s: give the field a comment", key, name)
		}
		if meaning != "" {
			kind["description"] = meaning
		}
		fields[key] = kind
	}
}

// isEvent reports whether a type is an event of the ledger: a struct that begins with a Head,
// or with another event.
func (s *schemas) isEvent(name string) bool {
	declared, is := s.types[name].Type.(*ast.StructType)
	if !is || len(declared.Fields.List) == 0 || len(declared.Fields.List[0].Names) > 0 {
		return false
	}
	first := typeName(declared.Fields.List[0].Type)
	return first == "Head" || s.types[first] != nil && s.isEvent(first)
}

// elsewhere is what a field without a comment of its own means in the first event that has one.
func (s *schemas) elsewhere(key string) string {
	for _, name := range s.names {
		if !s.isEvent(name) {
			continue
		}
		for _, row := range formRows(s.types[name].Type.(*ast.StructType)) { //nolint:errcheck // isEvent has looked
			if row.name == key && row.meaning != "" {
				return row.meaning
			}
		}
	}
	return ""
}

// kind is the schema of a type.
func (s *schemas) kind(expr ast.Expr) object {
	s.t.Helper()
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return s.kind(expr.X)
	case *ast.ArrayType:
		if name := typeName(expr.Elt); name == "byte" {
			return object{"type": "string", "contentEncoding": "base64"}
		}
		return object{"type": "array", "items": s.kind(expr.Elt)}
	case *ast.MapType:
		return object{"type": "object", "additionalProperties": s.kind(expr.Value)}
	}
	switch name := typeName(expr); name {
	case "string", "Status", "CheckKind", "Why", "Direction", "Verdict":
		return object{"type": "string"}
	case "bool":
		return object{"type": "boolean"}
	case "int", "int64":
		return object{"type": "integer"}
	case "float64", "Value":
		return object{"type": "number"}
	case "Time":
		return object{"type": "string", "format": "date-time"}
	case "RawMessage", "any":
		return object{}
	default:
		require.Contains(s.t, s.types, name, "a type that is not known")
		if alias, is := s.types[name].Type.(*ast.Ident); is {
			return s.kind(alias)
		}
		s.define(name)
		return object{"$ref": "#/$defs/" + name}
	}
}

// eventFiles have the types of events.
var eventFiles = []string{
	"../history/event.go", "../history/executor.go", "../history/spent.go",
	"../metric/usage.go", "../metric/value.go", "../decision/reason.go",
	"../decision/toogood.go", "../decision/statistics/noise.go", "../decision/trial.go", "../decision/decide.go",
}

// iterationSchema is a file of the ledger, with every kind of event.
func iterationSchema(t *testing.T) object {
	t.Helper()
	s := newSchemas(t, eventFiles...)
	var events []any
	names := map[string]history.Event{
		"Started": &history.Started{}, "Measured": &history.Measured{}, "Proposed": &history.Proposed{},
		"Decided": &history.Decided{}, "Pushed": &history.Pushed{}, "Finished": &history.Finished{},
		"Checked": &history.Checked{}, "Paused": &history.Paused{}, "Resumed": &history.Resumed{},
		"Completed": &history.Completed{}, "Set": &history.Set{}, "Answered": &history.Answered{},
	}
	for _, name := range slices.Sorted(maps.Keys(s.types)) {
		if !s.isEvent(name) {
			continue
		}
		require.Contains(t, names, name, "an event that is not known here")
		s.define(name)["event"] = object{"const": history.KindOf(names[name])}
		events = append(events, object{"$ref": "#/$defs/" + name})
	}
	require.Len(t, events, len(names))
	return object{
		"title": "A file of NAME.iterations/", "type": "object", "$defs": s.used,
		"required": []string{"events", "iteration", "schema"},
		"properties": object{
			"schema": object{"const": history.Schema}, "iteration": object{"type": "integer", "minimum": 0},
			"events": object{"type": "array", "items": object{"oneOf": events}},
		},
	}
}

// resultsSchema is a row of NAME.results.tsv, by the names of its columns.
func resultsSchema(t *testing.T) object {
	t.Helper()
	number := `^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$`
	fields := object{
		"iteration": object{"type": "string", "pattern": "^[0-9]+$"},
		"timestamp": object{"type": "string", "format": "date-time"},
		"score":     object{"type": "string", "pattern": "^$|" + number}, "best_score": object{
			"type": "string", "pattern": "^$|" + number,
		},
		"action":    object{"enum": []results.Action{results.Baseline, results.Kept, results.Reverted}},
		"changelog": object{"type": "string", "pattern": `^[^\t\n]*$`},
	}
	columns := strings.Split(results.Header, "\t")
	slices.Sort(columns)
	require.Equal(t, slices.Sorted(maps.Keys(fields)), columns)
	return object{
		"title": "A row of NAME.results.tsv, by its columns", "type": "object", "properties": fields,
		"required": columns,
	}
}

// stateSchema is the table Machine State of NAME.md, by the names of its rows.
func stateSchema(t *testing.T) object {
	t.Helper()
	nothing := "^—$|"
	number := object{"type": "string", "pattern": nothing + `^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$`}
	count := object{"type": "string", "pattern": "^[0-9]+$"}
	yes := object{"enum": []string{"true", "false"}}
	at := object{"type": "string", "pattern": nothing + `^[0-9]{4}-[0-9]{2}-[0-9]{2}T`}
	link := object{"type": "string", "pattern": nothing + `^#[0-9]+$|^\[`}
	text := object{"type": "string"}
	fields := object{
		"Last Run": at, "Iteration Count": count, "Initial Metric": number, "Best Metric": number,
		"Target Metric": number, "Metric Direction": object{"enum": []string{"higher", "lower"}}, "Branch": text,
		"PR": link, "Issue": link, "Paused": yes, "Pause Reason": text, "Completed": yes, "Completed Reason": text,
		"Consecutive Errors": count, "Recent Statuses": text, "Not Before": at,
	}
	var rows []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([A-Z][\w ]+) \|`).FindAllStringSubmatch(
		string(state.New("p").Bytes()), -1) {
		if row[1] != "Field" {
			rows = append(rows, row[1])
			require.Contains(t, fields, row[1])
		}
	}
	slices.Sort(rows)
	return object{
		"title": "The table Machine State of NAME.md, by its rows", "type": "object", "properties": fields,
		"required": rows,
	}
}
