package tests

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/tests/long"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// forgery is a bundle that somebody made who knows the format, and why it is
// refused.
type forgery struct {
	name string
	do   func(w *world, dir string)
	says string
}

// forgeries are bundles with another manifest, other events or another change: one for each
// check that a bundle meets, whose tables have the others.
func forgeries() []forgery {
	manifest := func(key string, value any) func(w *world, dir string) {
		return func(w *world, dir string) {
			w.t.Helper()
			w.manifest(dir, func(m map[string]any) {
				require.Contains(w.t, m, key)
				m[key] = value
			})
		}
	}
	set := func(kind, key string, value any) func(w *world, dir string) {
		return func(w *world, dir string) {
			w.t.Helper()
			w.rewriteEvents(dir, func(events []map[string]any) []map[string]any {
				found := false
				for _, event := range events {
					if event["event"] == kind {
						event[key], found = value, true
					}
				}
				require.True(w.t, found)
				return events
			})
		}
	}
	ones := strings.Repeat("1", 40)
	return []forgery{
		{"another repository", manifest("repository", "org/other"), `of repository "org/other"`},
		{"another base", manifest("base", ones), "not on main"},
		{"another head", manifest("branch", ones), "has moved since"},
		{"another memory", manifest("memory", ones), "of the memory branch"},
		{"other books", manifest("books", strings.Repeat("1", 64)), "state of p has changed"},
		{"another candidate", manifest("candidate_tree", ones), "brings other files"},
		{"a fix for nothing", manifest("kind", "fix"), "of iteration 2, and 1 is the next"},

		{"of another run", set("decided", "run_id", "r"), `events of run "r"`},
		{"a loss is a gain", func(w *world, dir string) {
			for _, kind := range []string{"measured", "decided"} {
				set(kind, "metric", json.Number("2"))(w, dir)
			}
			set("measured", "samples", []json.Number{"2"})(w, dir)
			set("decided", "best", json.Number("2"))(w, dir)
			set("decided", "delta", "-1")(w, dir)
		}, "do not bear"},
		{"another delta", set("decided", "delta", "+77"), "do not bear"},
		{"a metric of no samples", set("measured", "metric", json.Number("9")), "median of its samples"},
		{"no improvement", set("decided", "verdict", "neutral"), "without an improvement"},
		{"a rule of its own", set("decided", "rule", map[string]any{"regime": "repeatable"}), "another rule"},
		{"another evaluation", set("decided", "evaluator", "0123456789abcdef"), "another evaluation"},
		{"an outcome of CI", set("decided", "outcome", "pending-ci"), "which no proposal of its kind has"},
		{"a cost below nothing", set("decided", "usage", map[string]any{"input_tokens": -5}), "counts -5"},
		{"a long text", set("decided", "summary", strings.Repeat("x", 70<<10)), "text of 71680 bytes"},
		{
			"a reason that does not exist", set("decided", "reasons", []decision.Reason{{Kind: "made-up"}}),
			"which does not exist",
		},
		{"deep JSON", func(w *world, dir string) {
			deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
			w.replace(dir, "events.jsonl", `"outcome"`, `"x":`+deep+`,"outcome"`)
		}, "cannot be read"},
		{"no decision", func(w *world, dir string) {
			w.rewriteEvents(dir, func(events []map[string]any) []map[string]any { return events[:len(events)-1] })
		}, "contradict each other"},
		{"an event set", set("measured", "event", "set"), "which no proposal makes"},
		{"a baseline", func(w *world, dir string) {
			w.rewriteEvents(dir, func(events []map[string]any) []map[string]any {
				zero := map[string]any{
					"event": "measured", "role": "baseline", "iteration": 1, "run_id": events[0]["run_id"],
					"metric": 0, "samples": []int{0},
				}
				return append([]map[string]any{zero}, events...)
			})
		}, "baseline that nothing asks for"},

		{"outside the target", func(w *world, dir string) { w.rewrite(dir, "other.txt") }, "outside the target"},
		{
			"the program itself", func(w *world, dir string) { w.rewrite(dir, ".autoloop/programs/p.md") },
			"belongs to Autoloop",
		},
		{
			"a repository in it", func(w *world, dir string) { w.plant(dir, "160000", ones, "value.txt") },
			"no regular file and no link",
		},
		{"a bare repository", func(w *world, dir string) {
			w.plant(dir, "100644", w.git("rev-parse", "main:other.txt"), "x/HEAD", "x/objects/a", "x/refs/heads/a")
		}, "is part of a repository inside the repository"},
		{"a filter", func(w *world, dir string) {
			w.aside("attributes", "* filter=x")
			w.plant(dir, "100644", w.git("hash-object", "-w", filepath.Join(w.side, "attributes")), ".gitattributes")
		}, "chooses a filter, under which no file could be changed afterwards"},
		{
			"a link that leaves", func(w *world, dir string) { w.link(dir, "value.txt", "../../etc/passwd") },
			"leaves the tree",
		},
		{
			"git itself", func(w *world, dir string) { w.replace(dir, "change.json", "value.txt", ".git/value.txt") },
			"cannot be written",
		},
		{"no list of files", func(w *world, dir string) { w.replace(dir, "change.json", "[", "{") }, "cannot be read"},
	}
}

// TestForgedBundlesChangeNothing holds that what is refused leaves everything
// as it was: all forgeries meet one repository, which publishes the true bundle
// at the end.
func TestForgedBundlesChangeNothing(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	w := valuesWorld(t, "metric_direction: higher", "1", "2", "3")
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
	for _, f := range forgeries() {
		t.Run(f.name, func(t *testing.T) {
			forged := filepath.Join(t.TempDir(), "forged")
			w.run("", "cp", "-a", dir, forged)
			f.do(w, forged)
			refused(t, forged, f.says)
		})
	}
	t.Run("any field of the manifest", func(t *testing.T) {
		data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		require.NoError(t, err)
		for line := range strings.Lines(string(data)) {
			key, _, found := strings.Cut(strings.TrimSpace(line), ":")
			if !found {
				continue
			}
			forged := filepath.Join(t.TempDir(), "forged")
			w.run("", "cp", "-a", dir, forged)
			altered := strings.Replace(string(data), key, `"x"`, 1)
			require.NoError(t, os.WriteFile(filepath.Join(forged, "manifest.json"), []byte(altered), 0o600))
			refused(t, forged, "was altered")
		}
	})
	assert.Equal(t, checkout, w.checkout())
	assert.Equal(t, "3", text(w.publish(dir).Best))
}

// TestForgedBaselines holds iteration 0 against what the program says of its
// numbers.
func TestForgedBaselines(t *testing.T) {
	t.Parallel()
	w := noisyWorld(t, "metric-range: [0, 5000]\nguardrails: [{metric: rail, direction: higher, max-regression: 50%}]",
		nil, "1100")
	dir, proposed := w.propose("first")
	require.Equal(t, "accepted", proposed.Outcome)
	before := w.refs()
	for name, c := range map[string]struct {
		key   string
		value any
		says  string
	}{
		"out of its range":    {"samples", []int{-5, -5}, "-5 is implausible: outside metric-range [0, 5000]"},
		"without a guardrail": {"guardrail_samples", map[string]any{}, `prints no number "rail"`},
	} {
		forged := filepath.Join(t.TempDir(), "forged")
		w.run("", "cp", "-a", dir, forged)
		w.rewriteEvents(forged, func(events []map[string]any) []map[string]any {
			require.Equal(t, "baseline", events[0]["role"])
			events[0][c.key] = c.value
			if c.key == "samples" {
				events[0]["metric"] = -5
			}
			return events
		})
		a := w.binary("iterate", "job", "publish", "--program", "p", forged)
		assert.Equal(t, 1, a.code, name)
		assert.Contains(t, a.stderr, c.says, name)
		require.Equal(t, before, w.refs(), name)
	}
	assert.Equal(t, "1100", text(w.publish(dir).Best))
}

// TestSecretsOfThePublishingJob holds that its token goes onto no branch, in
// whatever form, and that a password which is a word keeps nothing back.
func TestSecretsOfThePublishingJob(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: higher", "1", "2")
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
		w.rewriteEvents(dir, func(events []map[string]any) []map[string]any {
			events[len(events)-1]["summary"] = base64.StdEncoding.EncodeToString([]byte("it is " + token))
			return events
		})
	})
	w.rewriteEvents(dir, func(events []map[string]any) []map[string]any {
		events[len(events)-1]["summary"] = "value.txt is 2"
		return events
	})
	assert.Equal(t, "2", text(w.publish(dir).Best))
	assert.Contains(t, w.git("log", "-1", "--format=%s", "autoloop/p"), "*** is 2")
}
