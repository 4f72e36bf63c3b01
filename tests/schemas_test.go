package tests

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// schema is one of docs/reference/schemas; no other field is allowed than it has.
func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	text := readText(t, filepath.Join("../docs/reference/schemas", name+".schema.json"))
	read, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	closed(read)
	compiler, address := jsonschema.NewCompiler(), "https://autoloop.invalid/"+name
	compiler.AssertFormat()
	require.NoError(t, compiler.AddResource(address, read))
	compiled, err := compiler.Compile(address)
	require.NoError(t, err)
	return compiled
}

// closed lets no object have a property that its schema does not name.
func closed(value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			closed(item)
		}
	case map[string]any:
		for _, item := range value {
			closed(item)
		}
		if value["type"] == "object" && value["properties"] != nil {
			value["additionalProperties"] = false
		}
	}
}

// fits holds a JSON text against a schema.
func fits(t *testing.T, name, text string) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err, text)
	assert.NoError(t, schema(t, name).Validate(value), text)
}

// TestFilesFitTheirSchemas: what the commands write has the fields that the schemas name,
// and no others.
func TestFilesFitTheirSchemas(t *testing.T) {
	t.Parallel()
	t.Run("programs", func(t *testing.T) {
		t.Parallel()
		w := valuesProject(t, "metric_direction: lower", "10", "9", "12", "x", "7", "6")
		w.plan()
		fits(t, "autoloop", w.beside("../gh-aw/autoloop.json"))
		for range 4 {
			w.one()
		}
		for _, args := range [][]string{{"pause", "p", "a rest"}, {"resume", "p"}, {"note", "p", "smaller"}, {"undo", "p", "4"}} {
			w.ok("iterate", args...)
		}
		dir, _ := w.propose("bundle")
		fits(t, "bundle", readText(t, filepath.Join(dir, "bundle.json")))
		w.publish(dir)

		kinds := map[string]bool{}
		for _, file := range strings.Fields(w.git("ls-tree", "-r", "--name-only", "memory/autoloop", "p.iterations/")) {
			text := w.memory(file)
			fits(t, "iteration", text)
			for _, kind := range regexp.MustCompile(`"event":"(\w+)"`).FindAllStringSubmatch(text, -1) {
				kinds[kind[1]] = true
			}
		}
		assert.Greater(t, len(kinds), 6, "kinds of events that were seen: %v", kinds)
		header, rows, _ := strings.Cut(w.memory("p.results.tsv"), "\n")
		for row := range strings.Lines(rows + "\n") {
			columns := map[string]string{}
			for i, cell := range strings.Split(strings.TrimSuffix(row, "\n"), "\t") {
				columns[strings.Split(header, "\t")[i]] = cell
			}
			fits(t, "results", asJSON(t, columns))
		}
		table := map[string]string{}
		for _, row := range regexp.MustCompile(`(?m)^\| ([A-Z][\w ]+) \| (.*) \|$`).FindAllStringSubmatch(w.memory("p.md"),
			-1) {
			if row[1] != "Field" {
				table[row[1]] = row[2]
			}
		}
		fits(t, "state", asJSON(t, table))
	})
	t.Run("tasks", func(t *testing.T) {
		t.Parallel()
		w := tasksProject(t, map[string]string{"one": hasAfter, "two": hasFile})
		a := w.tasks(copyConfig, "--out", "out")
		require.Zero(t, a.code, a.stderr)
		fits(t, "outcome", w.read("out/baseline.json"))
		fits(t, "outcome", w.read("out/candidate.json"))
	})
	t.Run("skill", func(t *testing.T) {
		t.Parallel()
		w := skillProject(t, "", "echo beta >> SKILL.md")
		a := w.skill("-n", "1")
		require.Zero(t, a.code, a.stderr)
		fits(t, "workspace", w.read("s-autoresearch/manifest.json"))
		fits(t, "snapshot", w.read("s-autoresearch/v0.manifest.json"))
		gradings, err := filepath.Glob(filepath.Join(w.dir, "s-autoresearch/iteration-1/eval-*/grading.json"))
		require.NoError(t, err)
		require.NotEmpty(t, gradings)
		for _, file := range gradings {
			text := readText(t, file)
			fits(t, "grading", text)
		}
	})
}

func asJSON(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}
