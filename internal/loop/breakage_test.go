package loop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/process"
)

// TestBrokenTargetsAreNoticed: a doctor breaks what the evaluation needs, and says
// when that makes no difference, or a better number.
func TestBrokenTargetsAreNoticed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script          string
		emptied, broken Breakage
	}{
		"refused":     {`test -s src/a.sh && echo '{"m": 1, "n": 2}' || echo '{"m": null, "rejected_reason": "no test ran"}'`, Breakage{Problem: "no test ran"}, Breakage{Unnoticed: true}},
		"a guardrail": {`echo "{\"m\": 1, \"n\": $(wc -l < src/a.sh)}"`, Breakage{Problem: "guardrail n"}, Breakage{Unnoticed: true}},
		"noticed":     {"sh -n src/a.sh; grep -c x src/a.sh", Breakage{Problem: "exit code 1"}, Breakage{Problem: "exit code 2"}},
		"not used":    {"echo 5", Breakage{Unnoticed: true}, Breakage{Unnoticed: true}},
		"passed over": {"sh -n src/a.sh || true; grep -c x src/a.sh || true", Breakage{}, Breakage{Unnoticed: true}},
		"a gain":      {"echo $((100 - $(wc -c < src/a.sh)))", Breakage{Gain: true}, Breakage{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, "", "1")
			front := ""
			if strings.Contains(name, "guardrail") {
				front = "guardrails: [{metric: n, direction: higher}]\n"
			}
			text := strings.NewReplacer("cat value.txt", c.script, "`value.txt`", "`src/a.sh`\n- `src/*`", "%s\n", front).Replace(bedProgram)
			b.commit(map[string]string{".autoloop/programs/p.md": text, "src/a.sh": "x=1\n", "src/b.sh": ":\n", "other.sh": "a file that is larger\n"})
			b.service = b.newService(text)
			b.service.Eval = &evaluation.Evaluator{Runner: &process.Runner{}}
			before := b.refs()
			found, err := b.service.Inspect(t.Context(), EnoughRuns, Emptied, Nonsense)
			require.NoError(t, err)
			require.Len(t, found.Broken, 2)
			for i, want := range []Breakage{c.emptied, c.broken} {
				got := found.Broken[i]
				assert.Equal(t, "src/a.sh", got.File)
				assert.Equal(t, []string{Emptied, Nonsense}[i], got.How)
				assert.Contains(t, got.Problem, want.Problem)
				assert.Equal(t, want.Problem != "", got.Problem != "", got.Problem)
				assert.Equal(t, want.Unnoticed, got.Unnoticed, "%s: %v", got.How, got.Metric)
				assert.Equal(t, want.Gain, got.Gain, "%s: %v", got.How, got.Metric)
			}
			assert.Equal(t, before, b.refs(), "nothing is written")
			repeated, err := b.service.Inspect(t.Context(), 0)
			require.NoError(t, err)
			assert.Empty(t, repeated.Broken)
		})
	}
}

// TestNothingIsBrokenBelowAFileOrALink: the candidate may have made a directory where the
// incumbent has one of those.
func TestNothingIsBrokenBelowAFileOrALink(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]string{
		"a file": "", "a link out of the tree": "/", "a link to what is beside the tree": "../x", "a link that leads nowhere": "gone",
		"a link to itself": "a", "a link to a file": "dir/kept", "a link to a directory": "dir",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for how, want := range map[string]string{Emptied: "", Nonsense: "kept\n" + nonsense} {
				dir := t.TempDir()
				require.NoError(t, os.Mkdir(filepath.Join(dir, "dir"), 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(dir, "dir", "kept"), []byte("kept\n"), 0o600))
				at := filepath.Join(dir, "a")
				if link == "" {
					require.NoError(t, os.WriteFile(at, []byte("a\n"), 0o600))
				} else {
					require.NoError(t, os.Symlink(link, at))
				}
				require.NoError(t, breakFiles(dir, how, "a/b", "a/deep/b", "a/kept", "dir/new/b", "dir/kept"))
				text, err := os.ReadFile(filepath.Join(dir, "dir", "kept"))
				require.NoError(t, err)
				assert.Equal(t, want, string(text), "the others are broken, and that once")
				assert.FileExists(t, filepath.Join(dir, "dir", "new", "b"))
				assert.NoFileExists(t, filepath.Join(dir, "dir", "b"))
				assert.NoDirExists(t, filepath.Join(dir, "dir", "deep"))
			}
		})
	}
}
