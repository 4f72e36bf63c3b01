package evaluation_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/process"
)

// TestNoSecretIsKept: whatever an evaluation prints where, neither its result nor a file
// has a secret, nor the beginning of one.
func TestNoSecretIsKept(t *testing.T) {
	t.Parallel()
	for name, output := range map[string]string{
		"in a text":              `{"m": 1, "text": "` + secret + `"}`,
		"as a key":               `{"m": 1, "` + secret + `": 2}`,
		"as an escaped key":      `{"m": 1, "\u0068` + secret[1:] + `": 2}`,
		"in an object that ends": `{"m": "` + secret,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, exit := range []int{0, 3} {
				artifacts := t.TempDir()
				request := evaluation.Request{
					Script: "curl " + secret, Artifacts: artifacts,
					Keep: filepath.Join(artifacts, "kept.txt"),
				}
				got := play(t, request, func(spec process.Spec) process.Result {
					defer func() { _ = os.Remove(scriptOf(spec)) }() // which is the program's own text
					return process.Result{
						ExitCode: exit, Stdout: []byte(output),
						Stderr: []byte("error: " + secret + "\n"),
					}
				})
				if name == "as an escaped key" {
					got.Tail = "" // which has it as it was printed
				}
				text, err := json.Marshal(got)
				require.NoError(t, err)
				assert.NotContains(t, string(text), "hunter2")
				for file, kept := range filesOf(t, artifacts) {
					if name == "as an escaped key" {
						continue
					}
					assert.NotContains(t, kept, "hunter2", file)
				}
			}
		})
	}
}

func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			text, err := os.ReadFile(file)
			found[entry.Name()] = string(text)
			return err
		}
		return err
	}))
	return found
}

// TestKeyWithSecretIsMasked: the number stays, under a name without it, unless the program asks for one of that name.
func TestKeyWithSecretIsMasked(t *testing.T) {
	t.Parallel()
	got := play(t, evaluation.Request{Names: []string{"asked ***"}},
		prints(`{"m": 1, "user `+secret+`": 2, "n": 3, "asked ***": 4, "asked `+secret+`": 5}`))
	require.Empty(t, got.Problem)
	names := map[string]string{}
	for name, value := range got.Measurement.Numbers {
		names[name] = value.String()
	}
	assert.Equal(t, map[string]string{"m": "1", "user ***": "2", "n": "3", "asked ***": "4"}, names)
}

// TestNoCutHalvesASecret: wherever in a reason a secret lies, none of it is left when the
// reason is cut, or what is before it falls together.
func TestNoCutHalvesASecret(t *testing.T) {
	t.Parallel()
	artifacts := t.TempDir()
	for _, before := range []string{" ", "x", "é", "x "} {
		for count := 462; count <= 510; count += 3 {
			reason := strings.Repeat(before, count)[:count/len(before)*len(before)] + secret + " after"
			text, err := json.Marshal(map[string]any{"m": nil, "rejected_reason": reason})
			require.NoError(t, err)
			for how, text := range map[string]string{
				"plain": string(text), "escaped": strings.ReplaceAll(string(text), secret, `\u0068`+secret[1:]),
				"in no result without its secrets": strings.Replace(string(text), `"m"`,
					`"`+secret+`":1,"***":1,"m"`, 1),
			} {
				got := play(t, evaluation.Request{Env: []string{env}, Artifacts: artifacts, Metric: "m"}, prints(text))
				require.Empty(t, got.Problem)
				require.NotContains(t, got.Measurement.RejectedReason, "hunter", "%s: %q %d", how, before, count)
				require.LessOrEqual(t, len([]rune(got.Measurement.RejectedReason)), 400)
			}
		}
	}
}

// TestReasonIsOneLine: what an evaluation says of itself is a line of plain words.
func TestReasonIsOneLine(t *testing.T) {
	t.Parallel()
	got := play(t, evaluation.Request{},
		prints(`{"m": null, "rejected_reason": " too\n\n\tslow \u001b[31mred\u202e "}`))
	assert.Equal(t, "too slow red", got.Measurement.RejectedReason)
	got = play(t, evaluation.Request{}, prints(`{"m": 2, "rejected_reason": 7}`))
	assert.Empty(t, got.Measurement.RejectedReason, "a number is no reason")
}

// TestTailIsBounded: the ends of both streams, as text, whatever bytes they have.
func TestTailIsBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ stdout, stderr, want string }{
		"nothing":       {"", "", ""},
		"errors first":  {"out", "err", "err\nout"},
		"just short":    {strings.Repeat("x", 1000), "", strings.Repeat("x", 1000)},
		"just too long": {strings.Repeat("x", 999) + "yz", "", "…" + strings.Repeat("x", 998) + "yz"},
		"a cut letter":  {"b" + strings.Repeat("é", 500) + "c", "", "…" + strings.Repeat("é", 499) + "c"},
		"no text":       {"a\xff\xfeb", "", "a�b"},
		"a cut secret":  {"x" + secret + strings.Repeat("y", 990), "", "x***" + strings.Repeat("y", 990)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := play(t, evaluation.Request{}, func(process.Spec) process.Result {
				return process.Result{ExitCode: 1, Stdout: []byte(c.stdout), Stderr: []byte(c.stderr)}
			})
			assert.Equal(t, c.want, got.Tail)
		})
	}
}

// TestKeptRunsFollowEachOther: a file keeps all runs that name it, each with its end.
func TestKeptRunsFollowEachOther(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "kept.txt")
	ends := []process.Result{
		{},
		{ExitCode: 4, Stderr: []byte("oh")},
		{Stdout: []byte("1\n")},
		{ExitCode: -1, Signal: "SIGTERM"},
	}
	next := 0
	play4 := func(process.Spec) process.Result { next++; return ends[next-1] }
	play(t, evaluation.Request{Setup: "make", Keep: file}, play4)
	play(t, evaluation.Request{Setup: "make", Keep: file}, play4)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "== the setup: exit code 0 after 0 s\n== standard error\n== standard output\n"+
		"== the evaluation: exit code 4 after 0 s\n== standard error\noh\n== standard output\n"+
		"== the setup: exit code 0 after 0 s\n== standard error\n== standard output\n1\n"+
		"== the evaluation: SIGTERM after 0 s\n== standard error\n== standard output\n", string(text))
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
