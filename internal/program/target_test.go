package program_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/golden"
)

func TestTargetWithoutFiles(t *testing.T) {
	files := []string{"lib/b.go", "src/a.go", "src/x/c.go"}
	for target, want := range map[string]bool{
		"- `src/`\n\nDo NOT modify `src/`\n": true, "- `src/*.go`\n\nDo NOT modify `src/**`\n": true,
		"- `src/a.go`\n\nDo NOT modify `src/a.go`\n": true,
		"- `src/a.go`\n\nDo NOT modify `src/`\n":     false, "- `src/`\n\nDo NOT modify `src/x/`\n": false,
		"- `new/*.go`\n": false, "- `new/*.go`\n\nDo NOT modify `new/`\n": true,
		"- `src/`\n- `lib/`\n\nDo NOT modify `src/`\n": false,
	} {
		p := parse("## Target\n\n" + target)
		p.Resolve(files)
		assert.Equal(t, want, p.NothingMayChange(files), target)
	}
}

func TestStandingProtectionsOpenForWhatIsNamedExactly(t *testing.T) {
	for text, want := range map[string]bool{
		"- `.github/workflows/ci.yml`\n": true, "- .github/workflows/ci.yml: the jobs\n": true,
		"1. [ ] **`.github/workflows/ci.yml`** -- the jobs\n":   true,
		"Only these:\n- jobs\n  - `.github/workflows/ci.yml`\n": true, "Change `.github/workflows/ci.yml`\n": false,
		"- the jobs of `.github/workflows/ci.yml`\n": false, "- `.github/`\n": false,
		"- `.github/workflows/*`\n":                                           false,
		"- `a.go`, `.github/workflows/ci.yml`\n":                              false,
		"Change `.github/workflows/ci.yml`\n\n- `.github/workflows/ci.yml`\n": true,
	} {
		prose := parse("## Target\n\n" + text)
		assert.Equal(t, want, prose.NamesExactly(".github/workflows/ci.yml"), text)
	}
	script := parse("## Target\n\n`eval.sh`, `bench/run.sh`, `data.txt`, `train.py`\n\n## Evaluation\n\n" + fence +
		"sh\nsh eval.sh < data.txt\ncd bench && ./run.sh\npython train.py\n" + fence + "\n")
	for path, want := range map[string]bool{
		"eval.sh": false, "bench/run.sh": false, file: false, "data.txt": false,
		"train.py": false,
	} {
		assert.Equal(t, want, script.NamesExactly(path), path)
	}
	given := parse("---\ntarget: [.github/workflows/ci.yml, .github/]\n---\n")
	assert.True(t, given.NamesExactly(".github/workflows/ci.yml"))
	assert.False(t, given.NamesExactly(".github/other.yml"))
	suite := parse("---\nskill: s\ntarget: [s/, s/evals/evals.json]\n---\n")
	assert.False(t, suite.Allows("s/evals/evals.json"), "what grades a skill is opened by nothing")
}

func TestWordsThatNameNothing(t *testing.T) {
	files := []string{"LICENSE", "app/Makefile", "app/main.go", "docs/guide/intro.md"}
	p := parse("## Target\n\n- client/server code\n- docs/guide as a whole\n- src/new.go\n- `app/`\n\n" +
		"Do NOT modify `Makefile`, `Parser` and `LICENSE`.\n")
	p.Resolve(files)
	assert.Equal(t, []string{"docs/guide", "src/new.go", "app/"}, texts(p.Targets))
	assert.Equal(t, []string{"Makefile", "LICENSE"}, texts(p.Protected))
	assert.Equal(t, []string{"client/server", "Parser"}, texts(p.Prose))
	assert.True(t, p.Allows("app/main.go"))
	assert.False(t, p.Allows("app/Makefile"), "a bare name protects at any depth")
	p = parse("---\ntarget: [a/go.mod, b/]\nprotect: [go.mod, testdata]\n---\n")
	for path, want := range map[string]bool{
		"a/go.mod": true, "b/go.mod": false, "b/x": true, "b/testdata/x": false,
		"b/go.mod.bak": true,
	} {
		assert.Equal(t, want, p.Allows(path), path)
	}
}

func TestMetricsOfTheText(t *testing.T) {
	for text, want := range map[string]string{
		"The metric is `ops`.":                                "ops",
		"the metric is the `ops.p50` value":                   "ops.p50",
		"**The metric is** `ops`.":                            "ops",
		"The metric is: `ops`":                                "ops",
		"It prints JSON. The metric\nis `ops`.":               "ops",
		"The metric is fast. Then `x`":                        "",
		"Our metrics is `x`":                                  "",
		fence + "\nThe metric is `x`\n" + fence:               "",
		"<!-- The metric is `x` -->":                          "",
		"The metric is `ops`. Remember: the metric is `ops`.": "ops",
		"Metric: `ops`":                                       "ops",
		"**Metric**: `ops`":                                   "ops",
		"- Metric: `ops`":                                     "ops",
		"Primary metric: `ops`":                               "ops",
		"The score metric is `ops`":                           "ops",
		"Maximise `ops`.":                                     "",
		"The primary quality metric is `ops`.":                "ops",
		"The metric is `null`.":                               "", "The metric is `true`": "", "The metric is `NaN`": "",
		"The metric is `0`":    "",
		"The metric is `-1.5`": "", "The metric is `85%`": "", "The metric is `[]`": "",
		"The metric is `ops`. When checks fail the metric is `null`.": "ops",
		"Maximise `fun`. The metric is `ops`.":                        "ops",
		"The metric is `ops` and `mem` is watched":                    "ops",
		"The metric is `0x1F`":                                        "", "The metric is `1.5ms`": "", "The metric is `12 ms`": "",
		"The metric is `3x`": "", "The metric is `p99`": "p99",
	} {
		p := parse("## Evaluation\n\n" + text + "\n")
		require.NoError(t, p.Err(), text)
		assert.Equal(t, want, p.Metric, text)
	}
	p := parse("The metric is `a`.\n\nThe metric is `b`.\n")
	require.ErrorContains(t, p.Err(),
		file+":3: the text names two metrics, `a` ")
	p = parse("---\nmetric: b\n---\nThe metric is `a`.\n")
	require.NoError(t, p.Err())
	assert.Equal(t, "b", p.Metric)
	golden.Row(t, "another metric in the text", messages(p.Warnings()))
}

func TestOptimisingSaysTheDirection(t *testing.T) {
	for text, wrong := range map[string]bool{
		"Minimise `ops`.": true, "minimize the `ops`": true, "Maximise `ops`": false,
		"---\nmetric_direction: lower\n---\nMinimize `ops`": false,
		"---\nmetric_direction: lower\n---\nMaximise `ops`": true,
		"---\nmetric: time\n---\nMinimise `ops`":            false, "---\nmetric: ops\n---\nMinimise `ops`": true,
		"Minimise `ops`. Higher is better.":                    false,
		"Never minimise `coverage`.":                           false,
		"The metric is `score`. Minimise `allocs` on the way.": false,
	} {
		assert.Equal(t, wrong, parse(text+"\n").Err() != nil, text)
	}
}

// TestFencesThatShowOutput are not run: no shell could. Words around a fence decide nothing.
func TestFencesThatShowOutput(t *testing.T) {
	t.Parallel()
	const make1 = fence + "sh\nmake\n" + fence + "\n\n"
	for _, output := range []string{
		"{\"a\": 1}", "{\"a\": <number>}", "42", "\n  42", "\"ok\"", "{\"a\": 1} // the lower the better", "{'a': 1}",
		"{\"a\": 1}\n{\"a\": 2}", "[\n  {\"a\": <n>}\n]", "score: 12\nok", "$ make\n12",
	} {
		p := parse("## Evaluation\n\n" + make1 + fence + "\n" + output + "\n" + fence + "\n")
		require.NoError(t, p.Err())
		assert.Equal(t, "make\n", p.Script, "%q", output)
	}
	for _, script := range []string{
		"make", "{\n  make\n  make test\n}", "rm -f out", "{ make; make test; }", "[ -f x ] && make",
	} {
		p := parse("## Evaluation\n\nIt prints:\n" + fence + "\n" + script + "\n" + fence + "\n")
		assert.Equal(t, script+"\n", p.Script, "%q", script)
	}
	p := parse("## Evaluation\n\n" + fence + "sh\n42\n" + fence + "\n")
	assert.Equal(t, "42\n", p.Script, "it has a label")
}

func TestErrorShowsNothingHidden(t *testing.T) {
	p := parse("---\nschedule: \"a\\e[31m\u202eb\"\n---\n")
	assert.NotContains(t, p.Err().Error(), "\u202e")
	assert.NotContains(t, p.Err().Error(), "\x1b")
}

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

// TestPhrasesThatDeny holds some hundred and seventy ways.
func TestPhrasesThatDeny(t *testing.T) {
	for _, phrase := range phrases(t, "denies.txt") {
		for place, text := range places {
			p := parse("## Target\n\n" + strings.ReplaceAll(text, "%s", phrase))
			require.NoError(t, p.Err(), "%s, as %s", phrase, place)
			for path, want := range map[string]bool{"src/a.go": true, "src/eval.go": false, "src/data/x.json": false} {
				require.Equal(t, want, p.Allows(path), "%s of %q, as %s", path, phrase, place)
			}
		}
	}
}

// TestPhrasesThatNobodyCanBeSureOf: what is not recognised is said, and never taken
// as permission.
func TestPhrasesThatNobodyCanBeSureOf(t *testing.T) {
	for _, phrase := range phrases(t, "unclear.txt") {
		for place, text := range places {
			p := parse("## Target\n\n" + strings.ReplaceAll(text, "%s", phrase))
			if p.Err() == nil {
				require.False(t, p.Allows("src/eval.go") || p.Allows("src/data/x.json"),
					"%q, as %s", phrase, place)
				continue
			}
			require.ErrorContains(t, p.Err(), "say whether its files may change; write")
			require.ErrorContains(t, p.Err(), "may also modify:` or `Do NOT modify:`")
		}
	}
}

// TestSentencesThatDeny holds that a sentence or an item about a path that is not to
// change never opens it, in words that no list of phrases has: it denies, or is said
// to be unclear.
func TestSentencesThatDeny(t *testing.T) {
	for _, sentence := range phrases(t, "sentences.txt") {
		for place, text := range map[string]string{
			"a paragraph": "- `a.go`\n\n%s\n",
			"an item":     "- `a.go`\n- %s\n- `c.go`\n",
		} {
			p := parse("## Target\n\n" + strings.ReplaceAll(text, "%s", sentence))
			assert.False(t, p.Allows("b.go"), "%s, as %s", sentence, place)
			assert.True(t, p.Allows("a.go"), "%s, as %s", sentence, place)
		}
	}
}

// TestWhatASectionSaysOfFiles holds, for the text of a section, its targets and what it protects, which paths may
// change, and what is wrong with it.
func TestWhatASectionSaysOfFiles(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		// Of all the section.
		"- `src/a.go`\n- `src/b/*.go` and `docs/`\n",
		"Change `src/a.go`, not the `Parse` function.\n",
		"- `src/`\n\nDo NOT modify:\n\n- `src/eval.go`\n- src/data/x.json\n",
		"Only `a.go` may change. Do NOT modify `eval.sh`.\n",
		"- `a.go`\n- `eval.sh` (do not modify)\n",
		"`a.go`\n\nDo not modify `b.go`.\n\nAlso `c.go`.\n",
		"`a.go`\n\n**Do *NOT* modify**: `b.go`\n",
		"`a.go`\n\nNever touch `b.go`.\n",
		"`a.go`\n\nThese must not be changed: `b.go`\n",
		"`a.go`\n\nDon’t edit `b.go`\n",
		"`a.go`\n\nPlease do\nnot modify `b.go`\n",
		"`a.go`\n\n### Do NOT modify\n\n- `b.go`\n",
		"`src/`\n\n## Do NOT modify\n\n- `src/b.go`\n",
		"- `do not modify.txt`\n- `do_not_modify.go`\n- do_not_modify.md\n",
		"- src/a.go: the parser\n* lib/*.py, all of them\n1. docs/\n- [ ] x/y.md\n" +
			"- \"q/r.md\"\n- **b/c.go** bold\n- [d.md](d.md)\n",
		"- the files in src\n- e.g. anything\n- 1.5 times\n- (list files)\n- https://example.org/a\n",
		"- Code:\n  - `a.go`\n  - b/c.go\n",
		fence + "\nsrc/a.go\n`b.go`\n" + fence + "\n`c.go`\n",
		"<!-- `a.go` -->\n\nText <!-- `b.go`\n`c.go` --> and `d.go`.\n",
		"The mark `<!--` and `a.go` and `-->`\n",
		"`./a.go` `/b.go` `c//d.go` `./`\n",
		"`.` `...` `0.95` `85%` `foo()` `a.b()` `go test ./...` `--flag=a/b` `https://x.org/y`\n",
		"- `a.go`\n\n###\n\n- `b.go`\n",
		"`a.go` and `a.go`\n",
		"`` a.go ``\n",
		"| file | why |\n|---|---|\n| `a.go` | x |\n",
		// A heading behind it.
		"`src/`\n\n## Protected files\n\n- `src/b.go`\n",
		"`src/`\n\n## Do NOT modify\n\n- `src/b.go`\n",
		"`src/`\n\n## Off-limits\n\n- `src/b.go`\n",
		"`src/`\n\n## Out of scope\n\n- `src/b.go`\n",
		"`src/`\n\n## Read-only files\n\n- `src/b.go`\n",
		// A list after another, and after words that say nothing.
		"- `src/a.go`\n\nYou may also modify:\n\n- `src/b.go`\n",
		"- `src/a.go`\n\nThese can be changed too:\n\n- `src/b.go`\n",
		"- `src/a.go`\n\nAlso allowed:\n\n- `src/b.go`\n",
		"- `src/a.go`\n\nMore targets:\n\n- `src/b.go`\n",
		"- `src/a.go`\n\nFor reference:\n\n- `src/b.go`\n",
		"- `src/a.go`\n\n### Helpers\n\n- `src/b.go`\n",
		"- `src/a.go`\n\nÄlä koske:\n\n- `src/b.go`\n",
		"- `src/a.go`\n\nNotes:\n\n- run `make` first\n- keep it simple\n",
		"Some files:\n\n- `b.go`\n\nYou may modify:\n\n- `a.go`\n",
		// Texts that allow.
		"Only modify these files:\n\n- `a.go`\n- `b.go`\n",
		"Only modify the files below; do not modify anything else.\n\n- `a.go`\n- `b.go`\n",
		"- `a.go`: the parser. Do not change what it accepts.\n- `b.go`\n",
		"- `a.go`\n* `b.go`\n",
		"You may edit `a.go` and `b.go`. Do not change other files.\n",
		"1. `a.go` holds the code\n2. `b.go`\n",
		"Target files:\n\n- `a.go`\n\n<!-- more -->\n\n* `b.go`\n",
		"- `a.go`\n- `b.go` (read-only)\n- `c.go` — do not modify\n- `d.go`\n",
		"- `src/**`\nDo NOT modify `src/fixed.txt`\n- `lib/`\n",
		"> - `a.go`\n>\n> Do NOT modify `b.go`.\n",
		// What may change by an exception is written in a list of its own.
		"- `src/x.ts`\n- `lib/`\n\nDo NOT modify:\n\n- Any `src/**` file other than `src/x.ts`\n",
		"`src/`\n\nDo NOT modify any `src/**` file other than `src/x.ts`.\n",
		"- `tests/`\n\nDo NOT modify anything outside `tests/chaos/`.\n",
		"- `src/x.ts`\n\nAll files in `src/` but `src/x.ts` are protected.\n",
		"- `src/`\n\nAll of `src/` except `src/x.ts` is read-only.\n",
		"- `src/`\n\nExcept for `src/x.ts`, `src/` must not be changed.\n",
		"- `src/`\n\n`src/*.test.ts` must not change, unless it is `src/x.test.ts`.\n",
		// What is exact wins over what is general.
		"- `pkgs/core/x.ts`\n\nDo NOT modify:\n\n- Any other file under `pkgs/**`\n",
		"You may modify everything in `src/` except `src/gen/`.\n",
		"- `src/` but not `src/vendor/`\n- `lib/`\n",
		"- `src/x.ts`\n\nDo NOT modify `src/x.ts`.\n",
		"- `src/*.ts`\n\nDo NOT modify `src/`.\n",
		"- `src/x.ts`\n\nDo NOT modify `src/`.\n",
		// Where the targets were given, a path in a sentence that says nothing is no target.
		"- `a.go`\n\nThe evaluator is `eval.py`.\n",
		"- `a.go`\n\nSee `b.go` for the format.\n",
		"- `src/`\n\nThe hot loop is in `src/hot.go`; run `npm test` first.\n",
		"The parser is `a.go`. Its lexer is `b.go`.\n",
		"- `a.go` has tests\n- `b.go` is the lexer\n",
		// Single sentences, items and rows.
		"- `a.go`\n- `b.go`: runs the benchmark. Do not modify it.\n- `c.go`\n",
		"- `a.go`\n- `b.go` runs the benchmark. It must not be changed.\n",
		"- `a.go` — the parser. Keep the public signature unchanged.\n- `c.go`\n",
		"- `a.go` — the parser. Do not change its output format.\n",
		"Improve `a.go`. The evaluator is `b.go`. Do not modify it.\n",
		"- `a.go`\n- `b.go`\n\nDo not modify these.\n",
		"| file | may change |\n|---|---|\n| `a.go` | yes |\n| `b.go` | no |\n| `c.go` |",
		"| file | |\n|---|---|\n| `a.go` | ✅ |\n| `b.go` | ❌ |\n| `c.go` | read-only |\n",
		"- ✅ `a.go`\n- ❌ `b.go`\n- ✅ `c.go`\n",
		"`src/` without `src/gen/`\n",
		"`src/**` (excluding `src/gen/**`)\n",
		"You may change anything in `src/`, but never `src/b.go`.\n",
		"Change `a.go`, not `b.go`.\n",
		"Change `a.go` and leave `b.go` alone.\n",
		"**Editable**: `a.go`\n**Frozen**: `b.go`\n",
		"Nothing but `a.go` may change.\n",
		"Do NOT modify anything but `a.go`.\n",
		"Anything but `b.go`.\n",
		"Do NOT modify any file except:\n- `a.go`\n",
		"There is no cache yet in `a.go`.\n",
		"The part that must not allocate is in:\n- `a.go`\n",
		"Do not break the public API.\n\n- `a.go`\n",
		"- `a.go`\n- ~~`b.go`~~\n",
		"1. `a.go`\n2. Never `b.go`\n",
		"- Do not modify these files.\n  - `b.go`\n",
		"- Do not modify anything else\n  - `b.go`\n- `a.go`: the parser. Do not touch:\n  - `c.go`\n",
		// A comment hides its paragraphs; what is in backticks begins none. One that begins within a line and ends
		// elsewhere, or has a text behind it on its last line, is not the same for all readers.
		"<!-- later:\n\n- `b.go`\n\n--> `a.go`\n",
		"- `a.go`, `b.go`: keep the <!-- header\n\nDo NOT modify `b.go`.\n\n<!-- end -->\n",
		"- `a.go` with its \\<!-- header\n\nDo NOT modify `b.go`.\n\n<!-- end -->\n",
		"- `a.go` ~~`<!--`~~\n\nDo NOT modify `b.go`.\n\n<!-- end -->\n",
		"- `a.go`\n\n<div>\n`<!--`\n</div>\n\nDo NOT modify `b.go`.\n\n<!-- end -->\n",
		"- `a.go`\n  <!-- two\n\nDo NOT modify `b.go`. -->\n",
		"Change `a.go` <!-- later also:\n\n`b.go`\n\n- `c.go`\n-->, please.\n",
		"- `a.go` <!-- no longer:\n- `b.go` -->\n- `c.go`\n",
		"<!-- it`s -->`a.go` <!-- ` --> <!-- `b.go` -->\n",
		"<!-- the rest --> Do NOT modify:\n- `b.go`\n",
		// Browsers end it where markdown does not; the one that does not end is named.
		"- `a.go`\n\n<!--> Do NOT modify `b.go`. -->\n",
		"- `a.go`\n\n<!---> Do NOT modify `b.go`. -->\n",
		"- `a.go`\n\n<!-- x --!> Do NOT modify `b.go`. -->\n",
		"- `a.go` <!-- x --!>, not `b.go`. -->\n",
		"- `a.go`\n\n<!-->\n\nDo NOT modify `b.go`. -->\n",
		"- `a.go`\n\n<div>\n<!-- x -->\n<!-- y\n</div>\n",
		"- `a.go`\n\nIn `<!--` and:\n\nDo NOT modify `b.go` and `-->`.\n",
		"- `a.go`\n\n" + fence + "\n<!--\n" + fence + "\n\nDo NOT modify `b.go` <!-- so -->\n",
		// An item may begin with something else than a text.
		"- `a.go`\n- <!-- x -->\n  Do not modify:\n- `b.go`\n",
		"- `a.go`\n- > Do not modify:\n- `b.go`\n",
		"- - `a.go`\n  - Do not modify:\n- `b.go`\n",
		"- `a.go`\n  Do not modify:\n\n  <!-- x -->\n\n  - `b.go`\n- `c.go`\n",
		// What leaves the repository is a warning, and an error where it cannot be protected.
		"`../x.go` `~/y.go` `a.go`\n",
		"`src/`\n\nDo NOT modify `../x.go`\n",
	} {
		p := parse("## Target\n\n" + text + "\n## Notes\n\n`not/this.go`\n")
		var allowed []string
		for _, path := range strings.Fields("a.go b.go c.go lib/a src/a src/a.go src/b.go src/x src/x.ts src/y.ts " +
			"src/gen/a.go src/gen/x src/vendor/a pkgs/a pkgs/core/x.ts pkgs/core/y.ts") {
			if p.Allows(path) {
				allowed = append(allowed, path)
			}
		}
		for _, pattern := range append(p.Targets, p.Protected...) {
			assert.GreaterOrEqual(t, pattern.Line, 3)
		}
		golden.Row(t, text, fmt.Sprintf("%s protected %s allowed %s %s", texts(p.Targets), texts(p.Protected), allowed,
			messages(p.Problems)))
	}
	for count, bounded := range map[int]bool{1000: false, 1001: true} {
		var list strings.Builder
		for i := range count {
			fmt.Fprintf(&list, "- `%d.go`\n", i)
		}
		assert.Equal(t, bounded, parse("## Target\n\n"+list.String()).Err() != nil)
		assert.Equal(t, bounded, parse("## Target\n\nDo NOT modify:\n\n"+list.String()).Err() != nil)
	}
}
