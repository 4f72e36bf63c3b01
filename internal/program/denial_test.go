package program_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
)

// places are where words that deny may stand, as %s.
var places = map[string]string{
	"a line":         "- `src/a.go`\n\n%s\n\n- `src/eval.go`\n- src/data/x.json\n",
	"bold":           "- `src/a.go`\n\n**%s**\n\n- `src/eval.go`\n- src/data/x.json\n",
	"a heading":      "- `src/a.go`\n\n### %s\n\n- `src/eval.go`\n- src/data/x.json\n",
	"first":          "%s\n\n- `src/eval.go`\n- src/data/x.json\n\nYou may modify:\n\n- `src/a.go`\n",
	"on its line":    "- `src/a.go`\n\n%s `src/eval.go`, `src/data/x.json`\n",
	"below a phrase": "Modify `src/a.go`.\n\n%s\n- `src/eval.go`\n- src/data/x.json\n",
}

func phrases(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// TestPhrasesThatDeny holds some three hundred ways in seven languages.
func TestPhrasesThatDeny(t *testing.T) {
	for _, phrase := range phrases(t, "denies.txt") {
		for place, text := range places {
			p := program.Parse(file, []byte("## Target\n\n"+strings.ReplaceAll(text, "%s", phrase)))
			require.NoError(t, p.Err(), "%s, as %s", phrase, place)
			for path, want := range map[string]bool{"src/a.go": true, "src/eval.go": false, "src/data/x.json": false} {
				require.Equal(t, want, p.Matcher().Allows(path), "%s of %q, as %s", path, phrase, place)
			}
		}
	}
}

// TestPhrasesThatNobodyCanBeSureOf: what is not recognised is said, and never taken
// as permission.
func TestPhrasesThatNobodyCanBeSureOf(t *testing.T) {
	for _, phrase := range phrases(t, "unclear.txt") {
		for place, text := range places {
			p := program.Parse(file, []byte("## Target\n\n"+strings.ReplaceAll(text, "%s", phrase)))
			if p.Err() == nil {
				require.False(t, p.Matcher().Allows("src/eval.go") || p.Matcher().Allows("src/data/x.json"), "%q, as %s", phrase, place)
				continue
			}
			require.ErrorContains(t, p.Err(), "does not say whether its files may change; write ")
			require.ErrorContains(t, p.Err(), "`You may also modify:` or `Do NOT modify:`")
		}
	}
}

// TestSentencesThatDeny holds that a sentence or an item about a path that is not to
// change never opens it, in words that no list of phrases has: it denies, or is said
// to be unclear.
func TestSentencesThatDeny(t *testing.T) {
	for _, sentence := range phrases(t, "sentences.txt") {
		for place, text := range map[string]string{"a paragraph": "- `a.go`\n\n%s\n", "an item": "- `a.go`\n- %s\n- `c.go`\n"} {
			p := program.Parse(file, []byte("## Target\n\n"+strings.ReplaceAll(text, "%s", sentence)))
			assert.False(t, p.Matcher().Allows("b.go"), "%s, as %s", sentence, place)
			assert.True(t, p.Matcher().Allows("a.go"), "%s, as %s", sentence, place)
		}
	}
}

// TestALaterSentenceMustSayWhatItIs: where the targets were given, a path in a
// sentence that says nothing is no target.
func TestALaterSentenceMustSayWhatItIs(t *testing.T) {
	for text, refused := range map[string]bool{
		"- `a.go`\n\nThe evaluator is `eval.py`.\n": true, "- `a.go`\n\nPretend that `b/` is empty.\n": true, "- `a.go`\n- `b.go` is not fast\n": true,
		"- `src/`\n\nThe hot loop is in `src/hot.go`; run `npm test` first.\n": false, "The parser is `a.go`. Its lexer is `b.go`.\n": false, "- `a.go` has no tests\n- `b.go` is the lexer\n": false,
	} {
		p := program.Parse(file, []byte("## Target\n\n"+text))
		assert.Equal(t, refused, p.Err() != nil, text)
	}
}

// TestSentencesAboutFiles holds what single sentences, items and rows say.
func TestSentencesAboutFiles(t *testing.T) {
	const unclear = "does not say"
	for text, want := range map[string]struct{ yes, not, err string }{
		"- `a.go`\n- `b.go`: runs the benchmark. Do not modify it.\n- `c.go`\n":           {"a.go c.go", "b.go", ""},
		"- `a.go`\n- `b.go` runs the benchmark. It must not be changed.\n":                {"a.go", "b.go", ""},
		"- `a.go` — the parser. Keep the public signature unchanged.\n- `c.go`\n":         {"a.go c.go", "", ""},
		"- `a.go` — the parser. Do not change its output format.\n":                       {"a.go", "", ""},
		"Improve `a.go`. The evaluator is `b.go`. Do not modify it.\n":                    {"a.go", "b.go", ""},
		"- `a.go`\n- `b.go`\n\nDo not modify these.\n":                                    {"", "", unclear},
		"| file | may change |\n|---|---|\n| `a.go` | yes |\n| `b.go` | no |\n| `c.go` |": {"a.go c.go", "b.go", ""},
		"| file | |\n|---|---|\n| `a.go` | ✅ |\n| `b.go` | ❌ |\n| `c.go` | read-only |\n": {"a.go", "b.go c.go", ""},
		"- ✅ `a.go`\n- ❌ `b.go`\n- ✅ `c.go`\n":                                            {"a.go c.go", "b.go", ""},
		"`src/` without `src/gen/`\n":                                                     {"src/x", "src/gen/x", ""},
		"`src/**` (excluding `src/gen/**`)\n":                                             {"src/x", "src/gen/x", ""},
		"You may change anything in `src/`, but never `src/b.go`.\n":                      {"src/x", "src/b.go", ""},
		"Change `a.go`, not `b.go`.\n":                                                    {"a.go", "b.go", ""},
		"Change `a.go` and leave `b.go` alone.\n":                                         {"a.go", "b.go", ""},
		"**Editable**: `a.go`\n**Frozen**: `b.go`\n":                                      {"a.go", "b.go", ""},
		"Nothing but `a.go` may change.\n":                                                {"a.go", "b.go", ""},
		"Do NOT modify anything but `a.go`.\n":                                            {"a.go", "b.go", ""},
		"Anything but `b.go`.\n":                                                          {"", "b.go", ""},
		"Do NOT modify any file except:\n- `a.go`\n":                                      {"", "", unclear},
		"There is no cache yet in `a.go`.\n":                                              {"", "a.go", unclear},
		"The part that must not allocate is in:\n- `a.go`\n":                              {"", "a.go", unclear},
		"Do not break the public API.\n\n- `a.go`\n":                                      {"a.go", "", ""},
		"- `a.go`\n\nSee `b.go` for the format.\n":                                        {"a.go", "b.go", ""},
		"- `a.go`\n- ~~`b.go`~~\n":                                                        {"a.go", "b.go", ""},
		"1. `a.go`\n2. Never `b.go`\n":                                                    {"a.go", "b.go", ""},
		"Ändere nur `a.go`, nicht `b.go`.\n":                                              {"a.go", "b.go", ""},
		"Ne modifiez que `a.go`.\n":                                                       {"a.go", "b.go", ""},
		"Modifica solo `a.go`, no `b.go`.\n":                                              {"a.go", "b.go", ""},
		"只修改 `a.go`，不要修改 `b.go`。\n":                                                       {"a.go", "b.go", ""},
		"`a.go` のみ変更可。`b.go` は変更しないでください。\n":                                              {"a.go", "b.go", ""},
	} {
		t.Run(text, func(t *testing.T) {
			p := program.Parse(file, []byte("## Target\n\n"+text))
			if want.err != "" {
				require.ErrorContains(t, p.Err(), want.err)
			} else {
				require.NoError(t, p.Err())
			}
			for _, path := range strings.Fields(want.yes) {
				assert.True(t, p.Matcher().Allows(path), path)
			}
			for _, path := range strings.Fields(want.not) {
				assert.False(t, p.Matcher().Allows(path), path)
			}
		})
	}
}
