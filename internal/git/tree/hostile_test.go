package tree_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/tests/golden"
)

// TestAgentWithItsGit: in the tree everything works; nothing reaches the
// repository, and nothing of it runs when we look at the tree.
func TestAgentWithItsGit(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"branches": `git branch -f main HEAD; git checkout -q -b evil; git commit -q -am mine --allow-empty; git ` +
			`tag evil; git update-ref refs/heads/autoloop/p HEAD`,
		"forgets": `git reflog expire --all --expire=now; git gc -q --prune=now; git prune`,
		"hooks": `mkdir -p .git/hooks; for h in post-index-change pre-commit post-checkout ` +
			`reference-transaction; do cp "$EVIL" .git/hooks/$h; done`,
		"monitor": `git config core.fsmonitor "$EVIL"; git config core.hooksPath "$(dirname "$EVIL")"`,
		"filters": `git config filter.evil.clean "$EVIL"; git config filter.evil.smudge "$EVIL"; git config ` +
			`filter.evil.process "$EVIL"; git config filter.evil.required true; echo '* filter=evil diff=evil text ` +
			`eol=crlf ident' > .git/info/attributes; sed 's/filter=evil //' .git/info/attributes > sub/.gitattributes`,
		"commands": `git config alias.status "!$EVIL"; git config core.pager "$EVIL"; git config core.sshCommand ` +
			`"$EVIL"; git config diff.external "$EVIL"; git config core.alternateRefsCommand "$EVIL"; git config ` +
			`extensions.partialClone origin; git config remote.origin.url "ext::$EVIL"; git config ` +
			`remote.origin.promisor true`,
		"includes":   `git config core.worktree /; git config core.bare true; git config include.path "$EVIL"`,
		"is a file":  `rm -rf .git; echo "gitdir: $REAL/.git" > .git`,
		"is a link":  `rm -rf .git; ln -s "$REAL/.git" .git`,
		"is nothing": `rm -rf .git`,
		"lies": `git update-index --assume-unchanged a.txt; git update-index --skip-worktree sub/b.txt; git rm ` +
			`-q --cached evaluator.sh; echo 'evaluator.sh' > .git/info/exclude`,
		"modules": `printf '[submodule "x"]\n\tpath = sub\n\turl = ext::%s\n\tupdate = !%s\n' "$EVIL" "$EVIL" > ` +
			`sub/.gitmodules`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, map[string]string{"a.txt": "1\n", "sub/b.txt": "1\n", "evaluator.sh": "x\n"})
			f.git("branch", "autoloop/p")
			built := f.build(tree.Options{Head: "HEAD"})
			side := t.TempDir()
			marker, evil := filepath.Join(side, "ran"), filepath.Join(side, "evil")
			require.NoError(t, os.WriteFile(evil, []byte("#!/bin/sh\ntouch "+marker+"\ncat\n"),
				0o700)) //nolint:gosec // a program
			before := everything(t, f.dir)
			e := edit{t, built.Dir}
			e.shell(script, "EVIL="+evil, "REAL="+f.dir)
			_ = os.Remove(marker)
			assert.Equal(t, before, everything(t, f.dir))
			e.put("a.txt", "2\n")
			changes := f.scan(built)
			assert.Regexp(t, `^a\.txt modified(, sub/\.git\w+ added)?$`, told(changes))
			assert.Equal(t, before, everything(t, f.dir))
			id := must(built.Candidate(t.Context(), changes))
			assert.Equal(t, "2", f.git("show", id+":a.txt"))
			_, err := (&tree.Builder{Repo: f.repo}).Build(t.Context(), id, filepath.Join(t.TempDir(), "second"),
				tree.Options{})
			require.NoError(t, err)
			require.NoError(t, files.RemoveAll(built.Dir))
			assert.NoFileExists(t, marker, "something that the agent left was run")
			assert.Equal(t, "main", f.git("symbolic-ref", "--short", "HEAD"))
			assert.Equal(t, "1\n", f.read(f.dir, "a.txt"))
		})
	}
}

func TestTreeThatWasReplaced(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"by a link to the repository": `dir=$PWD; cd /; mv "$dir" "$dir.old"; ln -s "$REAL" "$dir"`,
		"by another directory":        `dir=$PWD; cd /; mv "$dir" "$dir.old"; cp -r "$dir.old" "$dir"`,
		"by nothing":                  `dir=$PWD; cd /; rm -r "$dir"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, map[string]string{"a.txt": "1\n"})
			built := f.build(tree.Options{Head: "HEAD"})
			f.write(f.dir, "a.txt", "the user's own work\n")
			before := everything(t, f.dir)
			edit{t, built.Dir}.shell(script, "REAL="+f.dir)
			assert.Equal(t, ". is not the directory that was built", told(f.scan(built)))
			require.NoError(t, files.RemoveAll(built.Dir))
			assert.Equal(t, before, everything(t, f.dir))
		})
	}
}

// TestTreesReachNoRepository before the guard has seen it, and nothing of ours lies beside the tree.
func TestTreesReachNoRepository(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "1\n"})
	run := t.TempDir()
	built, err := (&tree.Builder{Repo: f.repo}).Build(t.Context(), "HEAD", filepath.Join(run, "tree"),
		tree.Options{Head: "HEAD"})
	require.NoError(t, err)
	before := everything(t, f.dir)
	edit{t, built.Dir}.put("big", strings.Repeat("never to be kept\n", 1000))
	require.Len(t, f.scan(built), 1)
	assert.Equal(t, before, everything(t, f.dir))
	f.candidate(built)
	for _, left := range []int{1, 0} {
		entries := must(os.ReadDir(run))
		require.Len(t, entries, left)
		require.NoError(t, files.RemoveAll(built.Dir))
	}
}

func TestLinksOutOfTheTree(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "1\n", "dir/b.txt": "1\n", "other/secret": "1\n"})
	f.git("config", "core.symlinks", "true")
	require.NoError(t, os.Symlink("/etc", filepath.Join(f.dir, "old")))
	f.git("add", "old")
	f.git("commit", "--quiet", "--message", "a link that always left")
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("s"), 0o600))
	built := f.build(tree.Options{Head: "HEAD"})
	assert.Empty(t, f.scan(built), "what the user has is the user's")
	e := edit{t, built.Dir}
	e.link(secret, "absolute")
	e.link("../../x", "dir/up")
	e.link("dir", "fine")
	e.link("fine/../../x", "through")
	e.link("round", "round")
	e.link(".git/config", "git")
	e.drop("dir/b.txt")
	e.link(secret, "dir/b.txt")
	e.drop("other")
	e.link(outside, "other")
	golden.Line(t, told(f.scan(built)))
	assert.Equal(t, "s", f.read(outside, "secret"))
}
