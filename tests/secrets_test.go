package tests

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// oddKey is a key that is written differently in addresses and JSON.
const oddKey = `s3cr+t/of"the&run-0123456789-abcdef`

// TestKeysInOddPlaces: wherever an agent or an evaluation that got hold of a key
// puts it, no record has it: not whole, not cut, and not as headers, addresses
// and JSON have it. A candidate with a key in it is rejected.
func TestKeysInOddPlaces(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	login := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + oddKey))
	places := []struct{ name, script, outcome string }{
		{
			"cut by the limit of a summary",
			`echo 4.8 > src/value.txt; printf 'a summary of many words, %s %s\n' "$(printf 'word %.0s' $(seq 33))" ` +
				`"$key"`,
			"accepted",
		},
		{
			"with an escape sequence in its midst",
			`echo 4.7 > src/value.txt; printf 'it is %s\033[0m%s now\n' "$(echo "$key" | cut -c1-9)" "$(echo "$key" ` +
				`| cut -c10-)"`, "accepted",
		},
		{"as a header", `echo 4.6 > src/value.txt; echo "Authorization: Basic $login"`, "accepted"},
		{"as an address has it", `echo 4.5 > src/value.txt; echo "https://x:$escaped@example.com/"`, "accepted"},
		{"in two writes", `printf '%s' "$(echo "$key" | cut -c1-12)"; printf '%s' "$(echo "$key" | cut -c1-12)" >&2; ` +
			`sleep 0.1; echo "$key" | cut -c13-; echo "$key" | cut -c13- >&2; exit 1`, "error"},
		{"in notes", `echo 4 > src/value.txt; echo "LESSON: use $key" > .autoloop-notes.md; echo "IDEA: $(printf ` +
			`'word %.0s' $(seq 55)) $key" >> .autoloop-notes.md`, "accepted"},
		{"in a file", `echo 3 > src/value.txt; echo "$key" > src/new.txt; echo done`, "rejected"},
		{"in a file, as a header", `echo 3 > src/value.txt; echo "$login" > src/new.txt`, "rejected"},
		{"in a binary file", `echo 3 > src/value.txt; printf '\000%s\000' "$key" > src/new.bin`, "rejected"},
		{"in the name of a file", `echo 3 > src/value.txt; echo x > "src/$flat"`, "rejected"},
		{"in the name of a path elsewhere", `echo 3 > src/value.txt; echo x > "docs/$flat"`, "rejected"},
		{
			"in the model's change and the evaluation's error", `echo fail > src/value.txt; echo "tried $key"`,
			"rejected",
		},
		{"in an output that has no number", `echo words > src/value.txt; echo "tried $key"`, "rejected"},
		{"in nothing", `echo 2 > src/value.txt; echo "nothing to hide"`, "accepted"},
	}
	const flat = "tkn-0123456789-abcdefghij-KLMNOP"
	w := agentProject(t, fmt.Sprintf("key='%s'; login=%s; escaped=%s; flat=%s\n. \"$SIDE/do-$AUTOLOOP_ITERATION.sh\"",
		oddKey, login, url.QueryEscape(oddKey), flat))
	w.frontmatter("plateau: off")
	for i, place := range places {
		require.NoError(t, os.WriteFile(filepath.Join(w.side, fmt.Sprintf("do-%d.sh", i+1)), []byte(place.script+"\n"),
			0o600))
	}
	w.write("eval.sh", fmt.Sprintf(`key='%s'
printf '%%s' "$(printf 'noise %%.0s' $(seq 160))" >&2; echo "$key" >&2
grep -q fail src/value.txt && { echo "Error: %s $key" >&2; exit 1; }
grep -q words src/value.txt && { echo "some words, then $key"; exit 0; }
printf '{"m": %%s, "rejected_reason": "%%s"}\n' "$(cat src/value.txt)" "$(echo "$key" | sed 's/"/\\"/')"
`, oddKey, strings.Repeat("x", 180)))
	w.commit("evaluation")
	// The evaluation is the test's own and has the key; what comes after it may not.
	before := w.git("rev-parse", "HEAD")
	w.env = append(w.env, "SOME_TOKEN="+oddKey, "OTHER_TOKEN="+flat)
	a := w.ok("iterate", "--program", "p", "--json", "-n", fmt.Sprint(len(places)))
	got := w.decode(a.stdout)
	require.Len(t, got, len(places))
	for i, place := range places {
		assert.Equal(t, place.outcome, got[i].Outcome, "%s: %v", place.name, got[i].Reasons)
		if place.outcome == "rejected" && strings.Contains(place.name, "file") {
			assert.Contains(t, got[i].Reasons[0], "has a secret in it", place.name)
		}
	}
	records := []string{
		a.stdout, a.stderr, w.git("log", "-p", "--format=%B", "^"+before, "memory/autoloop"),
		w.git("log", "-p", "--format=%B", "autoloop/p", "^"+before),
	}
	others := len(records)
	require.NoError(t, filepath.WalkDir(w.transcripts(filepath.Join(filepath.Dir(w.dir), "gh-aw")),
		func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			records = append(records, string(text))
			return err
		}))
	require.Greater(t, len(records), others, "transcripts are kept")
	text := strings.Join(records, "\n")
	assert.False(t, strings.Contains(text, login), //nolint:testifylint // It would print all of it.
		"as a header")
	assert.False(t, strings.Contains(text, url.QueryEscape(oddKey)), //nolint:testifylint // It would print all of it.
		"as in an address")
	for _, key := range []string{oddKey, flat} {
		const part = 12
		for at := 0; at+part <= len(key); at++ {
			if found := strings.Index(text, key[at:at+part]); found >= 0 {
				assert.Fail(t, "a part of a key is in a record", "%q", text[max(found-200, 0):min(found+60, len(text))])
				break
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), "git", "cat-file", "--batch", "--batch-all-objects")
	cmd.Dir, cmd.Env = w.dir, w.env
	objects, err := cmd.Output()
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(objects), "0123456789-abcdef"),
		"in the test's own evaluation; what is rejected is no object of the repository")
}

// TestLoginInOddPlaces: what an agent got from its login file, which is in no
// variable, is in no note and no change.
func TestLoginInOddPlaces(t *testing.T) {
	t.Parallel()
	const token = "a-token-of-a-login-0123456789"
	w := standInProject(t, `t=$(sed 's/.*access_token":"//; s/".*//' "$HOME/.codex/auth.json")
echo "LESSON: log in with $t" > .autoloop-notes.md; echo "$t" > value.txt`, "")
	w.unset("OPENAI_API_KEY")
	file := filepath.Join(filepath.Dir(w.dir), "home", ".codex", "auth.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(`{"tokens":{"access_token":"`+token+`"}}`), 0o600))
	a := w.ok("iterate", "--program", "p", "--json", "--agent", "codex", "--model", "test-model")
	got := w.decode(a.stdout)[0]
	assert.Equal(t, "rejected", got.Outcome)
	assert.Contains(t, got.Reasons[0], `"value.txt": has a secret in it`)
	state := w.memory("p.md")
	assert.Contains(t, w.ledger(), `"lessons":["log in with"]`)
	assert.NotContains(t, state+w.ledger()+a.stdout+a.stderr, token)
}
