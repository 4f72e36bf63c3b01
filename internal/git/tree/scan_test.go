//go:build unix

package tree_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/tests/golden"
)

func TestDeepDirectoriesAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "a\n", ".gitignore": "ignored\n"})
	built := f.build(tree.Options{})
	e := edit{t, built.Dir}
	deep := strings.Repeat("d/", 300)
	e.put(deep+"x", "x")
	e.put("ignored/"+deep+"x", "x")
	changes := f.scan(built)
	require.Len(t, changes, 1)
	assert.Contains(t, changes[0].Refused, "is nested deeper than 200 directories")
	require.NoError(t, files.RemoveAll(built.Dir))
}

// TestAlteredFilesHaveAnotherContent: one that was written again as it was is only touched.
func TestAlteredFilesHaveAnotherContent(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"})
	built := f.build(tree.Options{})
	e := edit{t, built.Dir}
	e.put("a.txt", "a\n")
	e.put("b.txt", "other\n")
	all := func(string) bool { return true }
	assert.Equal(t, map[string]bool{"a.txt": false, "b.txt": true}, built.Touched(all))
	assert.Equal(t, []string{"b.txt"}, built.Altered(all))
}

func TestScanAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	built := f.build(tree.Options{})
	e := edit{t, built.Dir}
	e.put("a.txt", "2\n")
	first := f.scan(built)
	e.put("b.txt", "2\n")
	second := f.scan(built)
	assert.Len(t, first, 1)
	assert.Len(t, second, 2)
	id := must(built.Candidate(t.Context(), second))
	assert.Equal(t, "2", f.git("show", id+":b.txt"), "what the last scan found")
	_, err := built.Candidate(t.Context(), second)
	require.ErrorContains(t, err, "not scanned")
}

// TestTrackedFileInSharedDirectoryStays where the checkout does not track it any more.
func TestTrackedFileInSharedDirectoryStays(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "a\n", "lib/kept": "k\n", "lib/other": "o\n", ".gitignore": "lib/\n"},
		"lib/kept", "lib/other")
	f.git("rm", "--quiet", "--cached", "lib/kept", "lib/other") // not in the commit
	f.write(f.dir, "lib/made", "m\n")
	built := f.build(tree.Options{Share: []string{"lib"}})
	assert.Empty(t, f.scan(built))
	e := edit{t, built.Dir}
	e.put("lib/kept", "2\n")
	e.put("lib/made", "2\n")
	e.drop("lib/other")
	assert.Equal(t, "lib/kept modified, lib/other deleted", told(f.scan(built)))
}

func TestScan(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.txt": "a\n", "dir/b.txt": "b\n", "dir/deep/c.txt": "c\n", "empty": "", "out/forced.o": "f\n",
		".gitignore":     "out/\n*.log\n/cache/*\n!/cache/keep\n",
		"dir/.gitignore": "local\n!kept.log\n", "cache/keep": "k\n",
	}
	for name, change := range map[string]func(edit){
		"the same bytes anew":    func(e edit) { e.put("a.txt", "a\n") },
		"deleted directory":      func(e edit) { e.drop("dir/deep") },
		"emptied":                func(e edit) { e.put("a.txt", "") },
		"new empty":              func(e edit) { e.put("new", ""); e.dir1("fresh") },
		"renamed in case":        func(e edit) { e.move("a.txt", "A.txt") },
		"executable":             func(e edit) { e.mode("a.txt", 0o700) },
		"other bits":             func(e edit) { e.mode("a.txt", 0o664) },
		"file becomes directory": func(e edit) { e.drop("a.txt"); e.put("a.txt/x", "x\n") },
		"directory becomes file": func(e edit) { e.drop("dir/deep"); e.put("dir/deep", "x\n") },
		"directory becomes link": func(e edit) { e.move("dir/deep", "deep"); e.link("../deep", "dir/deep") },
		"file becomes link":      func(e edit) { e.drop("a.txt"); e.link("empty", "a.txt") },
		"a second name":          func(e edit) { require.NoError(e, os.Link(e.path("a.txt"), e.path("same"))) },
		"ignored": func(e edit) {
			e.put("dir/local", "")
			e.put("new/x.log", "")
			e.put("cache/sub/x", "")
			e.pipe("p.log")
		},
		"tracked where all is":      func(e edit) { e.put("out/forced.o", "2\n") },
		"not ignored after all":     func(e edit) { e.put("dir/kept.log", "k\n"); e.put("cache/keep", "2\n") },
		"kept name of a directory":  func(e edit) { e.drop("cache"); e.put("cache/keep/x", "k\n") },
		"rules of the agent's own":  func(e edit) { e.put(".gitignore", "*\n"); e.put("dir/deep/.gitignore", "*\n"); e.put("new", "") },
		"rules taken away":          func(e edit) { e.drop(".gitignore"); e.put("x.log", "") },
		"repository in an ignored":  func(e edit) { e.put("out/lib/.git/HEAD", "x"); e.put("out/lib/a", "") },
		"new repository":            func(e edit) { e.put("lib/.git/HEAD", "x"); e.put("lib/a", "") },
		"new repository by a file":  func(e edit) { e.put("lib/.git", "gitdir: /x"); e.put("lib/a", "") },
		"repository around the old": func(e edit) { e.put("dir/.git/HEAD", "x"); e.put("dir/b.txt", "2\n") },
		"git by another name":       func(e edit) { e.put(".GIT/config", ""); e.put("git~1", "") },
		"named pipe":                func(e edit) { e.drop("a.txt"); e.pipe("a.txt") },
		"large and hollow":          func(e edit) { e.hollow("big", 1<<40) },
		"as large as may be":        func(e edit) { e.hollow("big", 10<<20) },
		"the attributes a link":     func(e edit) { e.link("a.txt", ".gitattributes") },
		"the module file a link":    func(e edit) { e.link("a.txt", ".gitmodules") },
		"git's own copy anew":       func(e edit) { e.drop(".git"); e.put(".git", "gitdir: /") },
		"git's own copy away":       func(e edit) { e.drop(".git") },
		"large together": func(e edit) {
			e.dir1("l")
			for i := range 11 {
				e.hollow(fmt.Sprintf("l/%x", i), 10<<20)
			}
		},
		"names of all kinds": func(e edit) {
			const names = "new\nline;quo\"te;back\\slash;lat\xe9;:(exclude)x;-dash; space ;*[a]?;#;!;\t"
			for name := range strings.SplitSeq(names, ";") {
				e.put(name, "3\n")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, files, "out/forced.o")
			built := f.build(tree.Options{Head: "HEAD"})
			change(edit{t, built.Dir})
			changes := f.scan(built)
			golden.Line(t, strings.ToValidUTF8(told(changes), "?"))
			f.agrees(built, changes)
		})
	}
}

func (e edit) pipe(name string) {
	require.NoError(e, exec.CommandContext(e.Context(), "mkfifo", e.path(name)).Run())
}

func (e edit) hollow(name string, size int64) {
	e.put(name, "")
	require.NoError(e, os.Truncate(e.path(name), size))
}

func (e edit) dir1(name string) { require.NoError(e, os.Mkdir(e.path(name), 0o755)) }

func (e edit) mode(name string, mode os.FileMode) { require.NoError(e, os.Chmod(e.path(name), mode)) }
