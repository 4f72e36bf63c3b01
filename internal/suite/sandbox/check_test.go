package sandbox_test

import (
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/sandbox"
)

func TestChecks(t *testing.T) {
	t.Parallel()
	outside := newDir(t, map[string]string{"secret": "needle\n"})
	box, in := open(t, newDir(t, map[string]string{"a.txt": "a needle here\n", "dir/b.txt": "b\n"}), nil)
	in.put("new.txt", "added line\n", 0o644)
	in.put("script.sh", "exit 0\n", 0o644)
	in.link(outside.at("secret"), "leak")
	in.link(outside.path, "leakdir")
	in.link("a.txt", "inside")
	changes, err := box.Changes(t.Context())
	require.NoError(t, err)
	fail := func(command string) format.Check { return format.Check{Kind: format.CommandCheck, Command: command} }
	pass := func(command string) format.Check {
		return format.Check{Kind: format.CommandCheck, Command: command, ExpectExitZero: true}
	}
	path := func(kind format.CheckKind, path, text string) format.Check {
		return format.Check{Kind: kind, Path: path, Substring: text, Pattern: regexp.MustCompile(text)}
	}
	for _, test := range []struct {
		check format.Check
		why   string // "" passes
	}{
		{path(format.FileExists, "a.txt", ""), ""},
		{path(format.FileExists, "dir", ""), ""},
		{path(format.FileExists, "none", ""), "there is no such file"},
		{path(format.FileExists, "leak", ""), "cannot be looked at inside the sandbox:"},
		{path(format.FileContains, "a.txt", "needle"), ""},
		{path(format.FileContains, "inside", "needle"), ""},
		{
			path(format.FileContains, "leak", "needle"),
			"cannot be looked at inside the sandbox:",
		},
		{
			path(format.FileContains, "leakdir/secret", "needle"),
			"cannot be looked at inside the sandbox:",
		},
		{path(format.FileContains, "a.txt", "hay"), `it does not contain "hay"`},
		{path(format.FileContains, "dir", "x"), "it is no regular file"},
		{path(format.FileNotContains, "a.txt", "hay"), ""},
		{path(format.FileNotContains, "a.txt", "needle"), `it contains "needle"`},
		{path(format.FileNotContains, "none", "needle"), "there is no such file"},
		{path(format.RegexMatch, "a.txt", "n.{3}le"), ""},
		{path(format.RegexMatch, "a.txt", "^x"), "nothing in it matches ^x"},
		{format.Check{Kind: format.DiffContains, Substring: "+added line"}, ""},
		{format.Check{Kind: format.DiffContains, Substring: "needle"}, "the diff does not contain it"},
		{format.Check{Kind: format.TestSuiteCheck, Command: "true"}, ""},
		{pass("grep -q needle a.txt"), ""},
		{fail("./script.sh"), "exit code 126: the command cannot be"},
	} {
		results, err := box.Check(t.Context(), []format.Check{test.check}, changes, time.Minute)
		require.NoError(t, err)
		require.Len(t, results, 1)
		assert.Equal(t, test.why == "", results[0].Passed, "%+v", results[0])
		if test.why == "" {
			assert.Empty(t, results[0].Detail)
		} else {
			assert.Contains(t, results[0].Detail, test.why, "%+v", test.check)
		}
	}
}

func TestExchangedSandboxFailsAllChecks(t *testing.T) {
	t.Parallel()
	box, _ := open(t, newDir(t, map[string]string{"a": "1"}), nil)
	elsewhere := newDir(t, map[string]string{"a": "1"})
	require.NoError(t, os.Rename(box.Dir, box.Dir+"-moved"))
	require.NoError(t, os.Symlink(elsewhere.path, box.Dir))
	results, err := box.Check(t.Context(), []format.Check{
		{Kind: format.CommandCheck, Command: "true", ExpectExitZero: true}, {Kind: format.FileExists, Path: "a"},
	}, sandbox.Changes{}, time.Minute)
	require.NoError(t, err)
	for _, result := range results {
		assert.Contains(t, result.Detail, "removed or exchanged")
	}
}
