package git_test

import (
	"encoding/hex"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

// raw writes an object as it is, whatever git would say of it.
func (f *fixture) raw(kind, text string) string {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), "git", "hash-object", "-t", kind, "--literally", "-w", "--stdin")
	cmd.Dir, cmd.Env, cmd.Stdin = f.dir, f.env, strings.NewReader(text)
	out, err := cmd.Output()
	require.NoError(f.t, err)
	return strings.TrimSpace(string(out))
}

// TestModesAreReadAsGitDoes: old versions of git and other programs wrote some that git
// writes no more.
func TestModesAreReadAsGitDoes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	blob, commit := f.user("rev-parse", "HEAD:a"), f.head()
	entry := func(mode, name, id string) string {
		bytes, err := hex.DecodeString(id)
		require.NoError(t, err)
		return mode + " " + name + "\x00" + string(bytes)
	}
	inner := f.raw("tree", entry("100644", "x", blob))
	modes := []string{
		"100644", "100755", "120000", "160000", "40000", "040000", "0040000", "100664", "100600", "100666", "100777", "100711", "100654", "100000", "0100644", "120777", "120644", "40755", "160644", "644", "10644", "110644", "0",
	}
	text, removed, deeper := entry("100644", "a", blob), map[string]*git.File{}, map[string]*git.File{}
	var names []string
	for i, mode := range modes {
		id := commit // git takes what is neither a file, a link nor a directory for another repository
		switch {
		case strings.HasSuffix(mode, "40000"), mode == "40755":
			id = inner
		case strings.HasPrefix(mode, "100"), strings.HasPrefix(mode, "120"), mode == "0100644":
			id = blob
		}
		names = append(names, fmt.Sprintf("m%02d", i))
		text += entry(mode, names[i], id)
		removed[names[i]], deeper[names[i]+"/deep"] = nil, &git.File{Data: []byte("deep\n")}
	}
	tree := f.raw("tree", text)
	listed := func(flags ...string) (entries []git.TreeEntry) {
		for line := range strings.Lines(f.user(append(append([]string{"ls-tree"}, flags...), tree)...) + "\n") {
			var e git.TreeEntry
			_, err := fmt.Sscanf(line, "%s %s %s\t%s", &e.Mode, &e.Type, &e.ID, &e.Path)
			require.NoError(t, err)
			entries = append(entries, e)
		}
		return entries
	}
	root, err := f.repo.LsRoot(t.Context(), tree)
	require.NoError(t, err)
	assert.Equal(t, listed(), root)
	whole, err := f.repo.LsTree(t.Context(), tree)
	require.NoError(t, err)
	assert.Equal(t, listed("-r"), whole)
	found, err := f.repo.LsFiles(t.Context(), tree, names...)
	require.NoError(t, err)
	require.Len(t, found, len(names))
	for i, one := range found {
		assert.Equal(t, root[i+1], one.TreeEntry, modes[i])
	}
	for _, files := range []map[string]*git.File{{"b": {Data: []byte("b\n")}}, removed, deeper} {
		made, err := f.repo.WriteFiles(t.Context(), tree, files)
		require.NoError(t, err)
		want, err := git.WriteThroughIndex(f.repo, t.Context(), tree, files)
		require.NoError(t, err)
		assert.Equal(t, want, made, files)
	}
	for name, text := range map[string]string{
		"no mode": entry("", "m", blob), "no number": entry("what", "m", blob), "a digit above seven": entry("100648", "m", blob), "cut off": entry("100644", "m", blob)[:20], "no name": "100644",
	} {
		tree := f.raw("tree", entry("100644", "a", blob)+text)
		_, err := f.repo.LsRoot(t.Context(), tree)
		require.Error(t, err, name)
		_, err = f.repo.LsTree(t.Context(), tree)
		require.Error(t, err, name)
		_, err = f.repo.LsFiles(t.Context(), tree, "a")
		require.Error(t, err, name)
		_, err = f.repo.WriteFiles(t.Context(), tree, map[string]*git.File{"b": {Data: []byte("b")}})
		require.Error(t, err, name)
	}
}

// TestCommitsAreReadAsGitDoes: one commit is what the log says of it, whoever made it.
func TestCommitsAreReadAsGitDoes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tree, other, parent := f.user("rev-parse", "HEAD^{tree}"), f.raw("tree", ""), f.head()
	second := f.commit("b", "b\n", parent)
	const who = "A U Thor <a@example.com> 1700000000 +0000"
	text := func(author, committer, more, message string) string {
		return "tree " + tree + "\nparent " + parent + "\nauthor " + author + "\ncommitter " + committer + "\n" + more + "\n" + message
	}
	for name, raw := range map[string]string{
		"usual":                       text(who, who, "", "s\n\nA: 1\n"),
		"no message":                  text(who, who, "", ""),
		"an empty line":               text(who, who, "", "\n"),
		"lines before":                text(who, who, "", "\n\n\ns\n"),
		"no end":                      text(who, who, "", "s"),
		"CRLF":                        text(who, who, "", "s\r\n\r\nA: 1\r\n"),
		"bytes":                       text(who, who, "", "\xff\xfe\n"),
		"an end in the middle":        text(who, who, "", "s\x00\n\nAutoloop-Iteration: 3\n"),
		"an end in a trailer":         text(who, who, "", "s\n\nA: 1\x002\n"),
		"two parents":                 strings.Replace(text(who, who, "", "s\n"), "\nauthor", "\nparent "+second+"\nauthor", 1),
		"two trees":                   strings.Replace(text(who, who, "", "s\n"), "\nparent", "\ntree "+other+"\nparent", 1),
		"no parent":                   strings.Replace(text(who, who, "", "s\n"), "parent "+parent+"\n", "", 1),
		"a signature":                 text(who, who, "gpgsig -----BEGIN\n \n parent "+second+"\n -----END\n", "s\n"),
		"an encoding":                 text(who, who, "encoding ISO-8859-1\n", "\xe4\n"),
		"an encoding that is usual":   text(who, who, "encoding UTF-8\n", "ä\n"),
		"an encoding nobody knows":    text(who, who, "encoding none\n", "s\n"),
		"a parent later":              text(who, who, "parent "+second+"\n", "s\n"),
		"a tree later":                text(who, who, "tree "+other+"\n", "s\n"),
		"an author later":             text(who, who, "author B <b@example.com> 5 +0000\n", "s\n"),
		"a committer later":           text(who, who, "committer B <b@example.com> 5 +0000\n", "s\n"),
		"a header of others":          text(who, who, "change-id abc\n", "s\n"),
		"spaces around a name":        text("  A U  Thor   <a@example.com> 1700000000 +0000", who, "", "s\n"),
		"no name":                     text("<a@example.com> 1700000000 +0000", who, "", "s\n"),
		"an empty name":               text(" <a@example.com> 1700000000 +0000", who, "", "s\n"),
		"no address":                  text("A <> 1700000000 +0000", who, "", "s\n"),
		"spaces in an address":        text("A < a@example.com > 1700000000 +0000", who, "", "s\n"),
		"brackets in a name":          text("A <b> <a@example.com> 1700000000 +0000", who, "", "s\n"),
		"brackets in an address":      text("A <a@example.com> b> 1700000000 +0000", who, "", "s\n"),
		"bytes in a name":             text("\xff <a@example.com> 1700000000 +0000", who, "", "s\n"),
		"another zone":                text(who, "A <a@example.com> 1700000000 -0730", "", "s\n"),
		"a zone of nowhere":           text(who, "A <a@example.com> 1700000000 +9999", "", "s\n"),
		"no zone":                     text(who, "A <a@example.com> 1700000000", "", "s\n"),
		"the first second":            text(who, "A <a@example.com> 0 +0000", "", "s\n"),
		"before it":                   text(who, "A <a@example.com> -1 +0000", "", "s\n"),
		"a number written otherwise":  text(who, "A <a@example.com> +0017 +0000", "", "s\n"),
		"more spaces before the time": text(who, "A <a@example.com>   17 +0000", "", "s\n"),
		"far from now":                text(who, "A <a@example.com> 99999999999 +0000", "", "s\n"),
		"too far":                     text(who, "A <a@example.com> 99999999999999999999 +0000", "", "s\n"),
		"no time":                     text(who, "A <a@example.com> never +0000", "", "s\n"),
	} {
		id := f.raw("commit", raw)
		logged, err := f.repo.Log(t.Context(), 1, id)
		require.NoError(t, err, name)
		require.Len(t, logged, 1, name)
		one, err := f.repo.ReadCommit(t.Context(), id)
		require.NoError(t, err, name)
		assert.Equal(t, logged[0], one, name)
		assert.Equal(t, logged[0].Trailers(), one.Trailers(), name)
	}
}
