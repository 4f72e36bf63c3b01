package tests

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// forgery is a bundle that somebody made who knows the format, and why it is
// refused.
type forgery struct {
	name string
	do   func(w *project, dir string)
	says string
}

// manifests are bundles with another manifest.
func manifests() []forgery {
	set := func(key string, value any) func(w *project, dir string) {
		return func(w *project, dir string) {
			w.t.Helper()
			w.forge(dir, func(m map[string]any) {
				require.Contains(w.t, m, key)
				m[key] = value
			})
		}
	}
	ones := strings.Repeat("1", 40)
	return []forgery{
		{"another repository", set("repository", "org/other"), `of repository "org/other"`},
		{"another program", set("program", "q"), `of program "q"`},
		{"a later iteration", set("iteration", 3), "of iteration 3, and 2 is the next"},
		{"another default branch", set("base_branch", "other"), `for branch "other"`},
		{"another base", set("base", ones), "not on main"},
		{"an older base", func(w *project, dir string) {
			set("base", w.git("rev-parse", "main~1"))(w, dir)
		}, "refused"},
		{"another head", set("branch", ones), "has moved since"},
		{"no head", set("branch", ""), "has moved since"},
		{"other books", set("books", strings.Repeat("1", 64)), "state of p has changed"},
		{"another incumbent", set("incumbent_tree", ones), "other files"},
		{"another candidate", set("candidate_tree", ones), "brings other files"},
		{"no candidate", func(w *project, dir string) {
			set("files", nil)(w, dir)
			set("candidate_tree", "")(w, dir)
		}, "contradict each other"},
		{"a fix for nothing", set("kind", "fix"), "no iteration waits for CI"},
	}
}

// histories are bundles with other events.
func histories() []forgery {
	edit := func(kind string, change func(event map[string]any)) func(w *project, dir string) {
		return func(w *project, dir string) {
			w.t.Helper()
			w.forge(dir, func(m map[string]any) {
				list, several := m[kind].([]any)
				if !several {
					list = []any{m[kind]}
				}
				for _, event := range list {
					fields, _ := event.(map[string]any)
					change(fields)
				}
			})
		}
	}
	set := func(kind, key string, value any) func(w *project, dir string) {
		return edit(kind, func(event map[string]any) { event[key] = value })
	}
	return []forgery{
		{"another metric", set("decided", "metric", json.Number("9")), "do not bear"},
		{"another metric everywhere", func(w *project, dir string) {
			set("decided", "metric", json.Number("9"))(w, dir)
			set("decided", "best", json.Number("9"))(w, dir)
			set("decided", "delta", "+6")(w, dir)
		}, "do not bear"},
		{"another best", set("decided", "best", json.Number("9")), "do not bear"},
		{"compared with another", set("decided", "previous_best", json.Number("1")), "do not bear"},
		{"another delta", set("decided", "delta", "+77"), "do not bear"},
		{"a loss is a gain", func(w *project, dir string) {
			for _, kind := range []string{"measured", "decided"} {
				set(kind, "metric", json.Number("2"))(w, dir)
			}
			set("measured", "samples", []json.Number{"2"})(w, dir)
			set("decided", "best", json.Number("2"))(w, dir)
			set("decided", "delta", "-1")(w, dir)
		}, "do not bear"},
		{"no improvement", set("decided", "verdict", "neutral"), "without an improvement"},
		{"no verdict", set("decided", "verdict", ""), "without an improvement"},
		{"a rule of its own", set("decided", "rule", map[string]any{"regime": "repeatable"}), "another rule"},
		{"no rule", edit("decided", func(event map[string]any) { delete(event, "rule") }), "another rule"},
		{"another evaluation", set("decided", "evaluator", "0123456789abcdef"), "another evaluation"},
		{"another outcome", set("decided", "outcome", "completed"), "contradict each other"},
		{"an outcome of CI", set("decided", "outcome", "pending-ci"), "which no proposal of its kind has"},
		{"a cost below nothing", set("decided", "usage", map[string]any{"input_tokens": -5}), "counts -5"},
		{"a time below nothing", set("decided", "durations", map[string]any{"propose": -5}), "counts -5"},
		{"a reason in words alone", set("decided", "reasons", []string{"CI is green: 3 checks"}), "cannot be read"},
		{"deep JSON", func(w *project, dir string) {
			w.replace(dir, `"outcome"`, `"x":`+strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)+`,"outcome"`)
		}, "cannot be read"},
		{"no number", func(w *project, dir string) { w.replace(dir, `"metric":3`, `"metric":NaN`) }, "cannot be read"},
		{"an infinite number", func(w *project, dir string) {
			w.replace(dir, `"metric":3`, `"metric":1e999999999`)
		}, "bundle"},
		{"no measurement", without("measured"), "needs a measurement"},
		{"no decision", without("decided"), "contradict each other"},
		{"many events", func(w *project, dir string) {
			w.forge(dir, func(m map[string]any) {
				var list []any
				for number := range 1001 {
					list = append(list, map[string]any{"proposal": number})
				}
				m["proposed"] = list
			})
		}, "more than 1000 events"},
		{"a baseline", func(w *project, dir string) {
			w.forge(dir, func(m map[string]any) {
				m["baseline"] = []any{map[string]any{"role": "baseline", "metric": 0, "samples": []int{0}}}
			})
		}, "baseline that nothing asks for"},
		{"what CI found", func(w *project, dir string) {
			w.forge(dir, func(m map[string]any) { m["checked"] = map[string]any{} })
		}, "which no proposal makes"},
		{"an end", func(w *project, dir string) {
			w.forge(dir, func(m map[string]any) { m["postponed"] = map[string]any{"unused": true} })
		}, "which no proposal makes"},
	}
}

// without leaves a part of a bundle out.
func without(key string) func(w *project, dir string) {
	return func(w *project, dir string) {
		w.t.Helper()
		w.forge(dir, func(m map[string]any) { delete(m, key) })
	}
}

// changes are bundles with another change.
func changes() []forgery {
	path := func(name string) func(w *project, dir string) {
		return func(w *project, dir string) { w.t.Helper(); w.replace(dir, `"path":"value.txt"`, `"path":"`+name+`"`) }
	}
	ones := strings.Repeat("1", 40)
	return []forgery{
		{"outside the target", func(w *project, dir string) { w.rewrite(dir, "other.txt") }, "outside the target"},
		{"a new file", func(w *project, dir string) { w.rewrite(dir, "new.txt") }, "outside the target"},
		{
			"the program itself", func(w *project, dir string) { w.rewrite(dir, ".autoloop/programs/p.md") },
			"belongs to Autoloop",
		},
		{"a workflow", func(w *project, dir string) { w.rewrite(dir, ".github/workflows/x.yml") }, "automation"},
		{"another mode outside", func(w *project, dir string) {
			w.plant(dir, "100755", w.git("rev-parse", "main:other.txt"), "other.txt")
		}, "outside the target"},
		{
			"a repository in it", func(w *project, dir string) { w.plant(dir, "160000", ones, "value.txt") },
			"no regular file and no link",
		},
		{"a bare repository", func(w *project, dir string) {
			w.plant(dir, "100644", w.git("rev-parse", "main:other.txt"), "x/HEAD", "x/objects/a", "x/refs/heads/a")
		}, "is part of a repository inside"},
		{"a filter", func(w *project, dir string) {
			file := filepath.Join(w.side, "attributes")
			require.NoError(w.t, os.WriteFile(file, []byte("* filter=x\n"), 0o600))
			w.plant(dir, "100644", w.git("hash-object", "-w", file), ".gitattributes")
		}, "chooses a filter"},
		{
			"a link that leaves", func(w *project, dir string) { w.link(dir, "value.txt", "../../etc/passwd") },
			"leaves the tree",
		},
		{
			"a link from the root", func(w *project, dir string) { w.link(dir, "value.txt", "/etc/passwd") },
			"leaves the tree",
		},
		{
			"a link into git",
			func(w *project, dir string) { w.link(dir, "value.txt", ".git/config") },
			"leaves the tree",
		},
		{
			"a long link", func(w *project, dir string) { w.link(dir, "value.txt", strings.Repeat("x/", 4000)) },
			"is a link of 8000 bytes",
		},
		{"upwards", path("../value.txt"), "cannot be written"},
		{"from the root", path("/value.txt"), "refused"},
		{"git itself", path(".git/value.txt"), "cannot be written"},
		{"git in other letters", path("x/.GIT/value.txt"), "cannot be written"},
		{"a file twice", func(w *project, dir string) {
			w.replace(dir, `"files":[{`,
				`"files":[{"path":"value.txt","mode":"100644"},{"path":"other.txt","mode":"100644","data":"Mwo="},{`)
		}, "brings other files"},
		{"a mode of two lines", func(w *project, dir string) {
			w.replace(dir, `"100644`, `"100644 `+ones+`\tother.txt\u0000100644`)
		}, "no regular file and no link"},
		{
			"no list of files",
			func(w *project, dir string) { w.replace(dir, `"files":[`, `"files":{`) },
			"cannot be read",
		},
	}
}

// TestForgedBundlesChangeNothing holds that what is refused leaves everything
// as it was: all forgeries meet one repository, which publishes the true bundle
// at the end.
func TestForgedBundlesChangeNothing(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	w := valuesProject(t, "metric_direction: higher", "1", "2", "3")
	w.git("commit", "--quiet", "--allow-empty", "--message", "another")
	first, _ := w.propose("first")
	w.publish(first)
	dir, proposed := w.propose("second")
	require.Equal(t, "accepted", proposed.Outcome)
	before, checkout := w.refs(), w.checkout()
	refused := func(t *testing.T, forged, says string) {
		t.Helper()
		a := w.binary("iterate", "job", "publish", "--program", "p", forged)
		assert.Equal(t, 1, a.code, a.stdout)
		assert.Contains(t, a.stderr, says)
		_, why, _ := strings.Cut(a.stderr, "iterate: ")
		assert.Equal(t, 1, strings.Count(why, "\n"), a.stderr)
		require.Equal(t, before, w.refs())
	}
	for _, f := range append(append(manifests(), histories()...), changes()...) {
		t.Run(f.name, func(t *testing.T) {
			forged := filepath.Join(t.TempDir(), "forged")
			w.run("", "cp", "-a", dir, forged)
			f.do(w, forged)
			refused(t, forged, f.says)
		})
	}
	assert.Equal(t, checkout, w.checkout())
	assert.Equal(t, "3", text(w.publish(dir).Best))
}

// TestSecretsOfThePublishingJob holds that its token goes onto no branch, in
// whatever form, and that a password which is a word keeps nothing back.
func TestSecretsOfThePublishingJob(t *testing.T) {
	t.Parallel()
	w := valuesProject(t, "metric_direction: higher", "1", "2")
	dir, _ := w.propose("first")
	before := w.refs()
	const token = "ghs_0123456789abcdefWRITER"
	w.env = append(w.env, "DEPLOY_TOKEN="+token, "DB_PASSWORD=value.txt")
	refused := func(name string, forge func(dir string)) {
		forged := filepath.Join(t.TempDir(), "forged")
		w.run("", "cp", "-a", dir, forged)
		forge(forged)
		a := w.binary("iterate", "job", "publish", "--program", "p", forged)
		assert.Equal(t, 1, a.code, name)
		assert.Contains(t, a.stderr, "has a secret of this job in it", name)
		assert.NotContains(t, a.stderr, token, name)
		require.Equal(t, before, w.refs(), name)
	}
	for name, content := range map[string]string{"a text": "2 " + token, "bytes": "2\x00\x01" + token + "\xff"} {
		refused(name, func(dir string) {
			w.aside("content", content)
			w.plant(dir, "100644", w.git("hash-object", "-w", filepath.Join(w.side, "content")), "value.txt")
		})
	}
	refused("what an agent said", func(dir string) {
		w.forge(dir, func(m map[string]any) {
			decided(m)["summary"] = base64.StdEncoding.EncodeToString([]byte("it is " + token))
		})
	})
	w.forge(dir, func(m map[string]any) { decided(m)["summary"] = "value.txt is 2" })
	assert.Equal(t, "2", text(w.publish(dir).Best))
	assert.Contains(t, w.git("log", "-1", "--format=%s", "autoloop/p"), "*** is 2")
}
