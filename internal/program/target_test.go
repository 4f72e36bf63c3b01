package program_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/golden"
)

func TestHeadingsThatDenyOutsideOfTheTarget(t *testing.T) {
	for _, heading := range []string{
		"Protected files", "Do NOT modify", "Off-limits", "Out of scope",
		"Read-only files",
	} {
		p := program.Parse(file, []byte("## Target\n\n`src/`\n\n## "+heading+"\n\n- `src/b.go`\n"))
		require.NoError(t, p.Err(), heading)
		assert.Equal(t, []string{"src/b.go"}, texts(p.Protected), heading)
		assert.Equal(t, []string{"src/"}, texts(p.Targets), heading)
	}
}

func TestSecondListNeedsWords(t *testing.T) {
	for name, c := range map[string]struct {
		intro string
		want  []string // targets; nil is an error
	}{
		"permitted":       {"You may also modify:", []string{"src/a.go", "src/b.go"}},
		"may be changed":  {"These can be changed too:", []string{"src/a.go", "src/b.go"}},
		"allowed":         {"Also allowed:", []string{"src/a.go", "src/b.go"}},
		"more targets":    {"More targets:", []string{"src/a.go", "src/b.go"}},
		"unclear":         {"For reference:", nil},
		"unclear heading": {"### Helpers", nil},
		"unknown tongue":  {"Älä koske:", nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := program.Parse(file, []byte("## Target\n\n- `src/a.go`\n\n"+c.intro+"\n\n- `src/b.go`\n"))
			if c.want != nil {
				require.NoError(t, p.Err())
				assert.Equal(t, c.want, texts(p.Targets))
				return
			}
			require.ErrorContains(t, p.Err(),
				file+":7: this list does not say ")
			assert.Equal(t, []string{"src/a.go"}, texts(p.Targets), "it is not taken as allowed")
		})
	}
	p := program.Parse(file, []byte("## Target\n\n- `src/a.go`\n\nNotes:\n\n- run `make` first\n- keep it simple\n"))
	require.NoError(t, p.Err(), "a list that names no path is prose")
}

func TestTextsThatAllow(t *testing.T) {
	for _, text := range []string{
		"Only modify these files:\n\n- `a.go`\n- `b.go`\n",
		"Only modify the files below; do not modify anything else.\n\n- `a.go`\n- `b.go`\n",
		"- `a.go`: the parser. Do not change what it accepts.\n- `b.go`\n", "- `a.go`\n* `b.go`\n",
		"You may edit `a.go` and `b.go`. Do not change other files.\n",
		"1. `a.go` holds the code\n2. `b.go`\n", "Target files:\n\n- `a.go`\n\n<!-- more -->\n\n* `b.go`\n",
	} {
		p := program.Parse(file, []byte("## Target\n\n"+text))
		require.NoError(t, p.Err(), text)
		assert.Equal(t, []string{"a.go", "b.go"}, texts(p.Targets), text)
	}
	p := program.Parse(file, []byte(
		"## Target\n\n- `a.go`\n- `b.go` (read-only)\n- `c.go` — do not modify\n- `d.go`\n"))
	assert.Equal(t, []string{"a.go", "d.go"}, texts(p.Targets), "words behind a path are about that path")
	assert.Equal(t, []string{"b.go", "c.go"}, texts(p.Protected))
	p = program.Parse(file, []byte("## Target\n\n- `src/**`\nDo NOT modify `src/fixed.txt`\n- `lib/`\n"))
	assert.Equal(t, []string{"src/**"}, texts(p.Targets), "a line of its own is about all that follows")
	assert.Equal(t, []string{"src/fixed.txt", "lib/"}, texts(p.Protected))
}

// TestExceptionsAreErrors: what may change is written in a list of its own.
func TestExceptionsAreErrors(t *testing.T) {
	for _, text := range []string{
		"- `src/x.ts`\n- `lib/`\n\nDo NOT modify:\n\n- Any `src/**` file other than `src/x.ts`\n",
		"`src/`\n\nDo NOT modify any `src/**` file other than `src/x.ts`.\n",
		"- `tests/`\n\nDo NOT modify anything outside `tests/chaos/`.\n",
		"- `src/x.ts`\n\nAll files in `src/` but `src/x.ts` are protected.\n",
		"- `src/`\n\nAll of `src/` except `src/x.ts` is read-only.\n",
		"- `src/`\n\nExcept for `src/x.ts`, `src/` must not be changed.\n",
		"- `src/`\n\n`src/*.test.ts` must not change, unless it is `src/x.test.ts`.\n",
	} {
		p := program.Parse(file, []byte("## Target\n\n"+text))
		require.ErrorContains(t, p.Err(),
			"name it in a list below `Only modify:`", text)
	}
}

// TestExactWinsOverGeneral holds which paths may change.
func TestExactWinsOverGeneral(t *testing.T) {
	for name, c := range map[string]struct {
		text, yes, not string
	}{
		"any other file": {
			"- `pkgs/core/x.ts`\n\nDo NOT modify:\n\n- Any other file under `pkgs/**`\n",
			"pkgs/core/x.ts",
			"pkgs/core/y.ts pkgs/a",
		},
		"except, of allow": {
			"You may modify everything in `src/` except `src/gen/`.\n",
			"src/a.go",
			"src/gen/a.go",
		},
		"but not, of allow": {
			"- `src/` but not `src/vendor/`\n- `lib/`\n",
			"src/a lib/a",
			"src/vendor/a",
		},
		"exact protection": {"- `src/x.ts`\n\nDo NOT modify `src/x.ts`.\n", "", "src/x.ts"},
		"general both":     {"- `src/*.ts`\n\nDo NOT modify `src/`.\n", "", "src/x.ts"},
		"a directory":      {"- `src/x.ts`\n\nDo NOT modify `src/`.\n", "src/x.ts", "src/y.ts"},
	} {
		t.Run(name, func(t *testing.T) {
			p := program.Parse(file, []byte("## Target\n\n"+c.text))
			require.NoError(t, p.Err())
			for _, path := range strings.Fields(c.yes) {
				assert.True(t, p.Matcher().Allows(path), path)
			}
			for _, path := range strings.Fields(c.not) {
				assert.False(t, p.Matcher().Allows(path), path)
			}
		})
	}
}

func TestTargetWithoutFiles(t *testing.T) {
	files := []string{"lib/b.go", "src/a.go", "src/x/c.go"}
	for target, want := range map[string]bool{
		"- `src/`\n\nDo NOT modify `src/`\n": true, "- `src/*.go`\n\nDo NOT modify `src/**`\n": true,
		"- `src/a.go`\n\nDo NOT modify `src/a.go`\n": true,
		"- `src/a.go`\n\nDo NOT modify `src/`\n":     false, "- `src/`\n\nDo NOT modify `src/x/`\n": false,
		"- `new/*.go`\n": false, "- `new/*.go`\n\nDo NOT modify `new/`\n": true,
		"- `src/`\n- `lib/`\n\nDo NOT modify `src/`\n": false,
	} {
		p := program.Parse(file, []byte("## Target\n\n"+target))
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
		prose := program.Parse(file, []byte("## Target\n\n"+text))
		assert.Equal(t, want, prose.Matcher().Literal(".github/workflows/ci.yml"), text)
	}
	script := program.Parse(file, []byte(
		"## Target\n\n`eval.sh`, `bench/run.sh`, `data.txt`, `train.py`\n\n## Evaluation\n\n"+fence+
			"sh\nsh eval.sh < data.txt\ncd bench && ./run.sh\npython train.py\n"+fence+"\n"))
	for path, want := range map[string]bool{
		"eval.sh": false, "bench/run.sh": false, file: false, "data.txt": false,
		"train.py": false,
	} {
		assert.Equal(t, want, script.Matcher().Literal(path), path)
	}
	given := program.Parse(file, []byte("---\ntarget: [.github/workflows/ci.yml, .github/]\n---\n"))
	assert.True(t, given.Matcher().Literal(".github/workflows/ci.yml"))
	assert.False(t, given.Matcher().Literal(".github/other.yml"))
	suite := program.Parse(file, []byte("---\nskill: s\ntarget: [s/, s/evals/evals.json]\n---\n"))
	assert.False(t, suite.Matcher().Allows("s/evals/evals.json"), "what grades a skill is opened by nothing")
}

func TestWordsThatNameNothing(t *testing.T) {
	files := []string{"LICENSE", "app/Makefile", "app/main.go", "docs/guide/intro.md"}
	p := program.Parse(file, []byte(
		"## Target\n\n- client/server code\n- docs/guide as a whole\n- src/new.go\n- `app/`\n\n"+
			"Do NOT modify `Makefile`, `Parser` and `LICENSE`.\n"))
	p.Resolve(files)
	assert.Equal(t, []string{"docs/guide", "src/new.go", "app/"}, texts(p.Targets))
	assert.Equal(t, []string{"Makefile", "LICENSE"}, texts(p.Protected))
	assert.Equal(t, []string{"client/server", "Parser"}, texts(p.Prose))
	assert.True(t, p.Matcher().Allows("app/main.go"))
	assert.False(t, p.Matcher().Allows("app/Makefile"), "a bare name protects at any depth")
	p = program.Parse(file, []byte("---\ntarget: [a/go.mod, b/]\nprotect: [go.mod, testdata]\n---\n"))
	for path, want := range map[string]bool{
		"a/go.mod": true, "b/go.mod": false, "b/x": true, "b/testdata/x": false,
		"b/go.mod.bak": true,
	} {
		assert.Equal(t, want, p.Matcher().Allows(path), path)
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
	p := program.Parse(file, []byte("The metric is `a`.\n\nThe metric is `b`.\n"))
	require.ErrorContains(t, p.Err(),
		file+":3: the text names two metrics, `a` ")
	p = program.Parse(file, []byte("---\nmetric: b\n---\nThe metric is `a`.\n"))
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

// TestFencesThatShowOutput are not run, whatever words say that they show it.
func TestFencesThatShowOutput(t *testing.T) {
	t.Parallel()
	const make1 = fence + "sh\nmake\n" + fence + "\n\n"
	for intro, output := range map[string]string{
		"For example:": "{\"a\": 1}", "A form:": "{\"a\": <number>}", "It prints": "score 5",
		"Example output:": "ok 12",
		"":                "42",
		"A text:":         "\"ok\"",
		"A remark:":       "{\"a\": 1} // the lower the better",
		"Quotes:":         "{'a': 1}",
		"Lines:":          "{\"a\": 1}\n{\"a\": 2}", "A list:": "[\n  {\"a\": <n>}\n]", "Example:": "score: 12\nok",
		"Try it:": "$ make\n12", "### Example output": "score 12", "### Output\n\nOne line:": "score 12",
		"The command above prints one line such as": "score 12", "When run, it outputs": "score 12",
		"The output of the command is as follows:": "score 12", "The command then prints:": "score 12",
		"which produces something like:": "score 12", "On stdout:": "score 12", "**Result**:": "score 12",
		"The expected result looks like this": "score 12",
	} {
		p := program.Parse(file, []byte("## Evaluation\n\n"+make1+intro+"\n\n"+fence+"\n"+output+"\n"+fence+"\n"))
		require.NoError(t, p.Err())
		assert.Equal(t, "make\n", p.Script, "%q", intro)
	}
	for intro, script := range map[string]string{
		"### Output\n\nOne line.\n\n### Command\n": "make", "This command prints the score:": "make",
		"The script below prints JSON:": "make", "To print the score, run:": "make",
		"Then compute the results:": "make",
		"A group:":                  "{\n  make\n  make test\n}", "It produces a report. Then:": "rm -f out",
		"":                              "{ make; make test; }",
		"Run this, it prints a number:": "make", "A test:": "[ -f x ] && make",
		"The script prints a number. Here it is:": "make",
	} {
		p := program.Parse(file, []byte("## Evaluation\n\n"+intro+"\n"+fence+"\n"+script+"\n"+fence+"\n"))
		assert.Equal(t, script+"\n", p.Script, "%q", intro)
	}
	p := program.Parse(file, []byte("## Evaluation\n\nThis prints the score:\n"+make1))
	assert.Equal(t, "make\n", p.Script, "it has a label")
}

func TestErrorShowsNothingHidden(t *testing.T) {
	p := program.Parse(file, []byte("---\nschedule: \"a\\e[31m\u202eb\"\n---\n"))
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
				require.False(t, p.Matcher().Allows("src/eval.go") || p.Matcher().Allows("src/data/x.json"),
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
			p := program.Parse(file, []byte("## Target\n\n"+strings.ReplaceAll(text, "%s", sentence)))
			assert.False(t, p.Matcher().Allows("b.go"), "%s, as %s", sentence, place)
			assert.True(t, p.Matcher().Allows("a.go"), "%s, as %s", sentence, place)
		}
	}
}

// TestLaterSentenceNeedsWords: where the targets were given, a path in a
// sentence that says nothing is no target.
func TestLaterSentenceNeedsWords(t *testing.T) {
	for text, refused := range map[string]bool{
		"- `a.go`\n\nThe evaluator is `eval.py`.\n": true, "- `a.go`\n\nSee `b.go` for the format.\n": true,
		"- `src/`\n\nThe hot loop is in `src/hot.go`; run `npm test` first.\n": false,
		"The parser is `a.go`. Its lexer is `b.go`.\n":                         false,
		"- `a.go` has tests\n- `b.go` is the lexer\n":                          false,
	} {
		p := program.Parse(file, []byte("## Target\n\n"+text))
		assert.Equal(t, refused, p.Err() != nil, text)
	}
}

// TestSentencesAboutFiles holds what single sentences, items and rows say.
func TestSentencesAboutFiles(t *testing.T) {
	const unclear, byException = "does not say", "by an exception"
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
		"Nothing but `a.go` may change.\n": {
			"", "a.go b.go",
			byException,
		},
		"Do NOT modify anything but `a.go`.\n": {
			"", "a.go b.go",
			byException,
		},
		"Anything but `b.go`.\n":                             {"", "b.go", ""},
		"Do NOT modify any file except:\n- `a.go`\n":         {"", "a.go", ""},
		"There is no cache yet in `a.go`.\n":                 {"", "a.go", ""},
		"The part that must not allocate is in:\n- `a.go`\n": {"", "a.go", ""},
		"Do not break the public API.\n\n- `a.go`\n":         {"a.go", "", ""},
		"- `a.go`\n- ~~`b.go`~~\n":                           {"a.go", "b.go", ""},
		"1. `a.go`\n2. Never `b.go`\n":                       {"a.go", "b.go", ""},
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
