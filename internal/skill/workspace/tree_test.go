package workspace

import (
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestChangedByteOfManifestIsSeen: no altered manifest gives another tree.
func TestChangedByteOfManifestIsSeen(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(17, 18))
	text, err := writeManifest(sample())
	require.NoError(t, err)
	for range 500 {
		altered := slices.Clone(text)
		altered[random.IntN(len(altered))] = byte(32 + random.IntN(95))
		tree, err := readManifest(altered)
		if err != nil {
			continue
		}
		require.Equal(t, sample().Digest(), tree.Digest(), "%s", altered)
	}
}

func TestBelow(t *testing.T) {
	t.Parallel()
	file := func(name string) Entry { return Entry{Path: name, Mode: 0o644} }
	tree := Tree{
		file("SKILL.md"),
		{Path: "evals", Mode: fs.ModeDir | 0o755},
		file("evals-2/a"), file("evals/a"),
		file("evals/b/c"), file("x/evals/a"),
	}
	assert.Equal(t, Tree{file("a"), file("b/c")}, tree.Below("evals"))
	assert.Equal(t, Tree{file("c")}, tree.Below("evals/b"))
	assert.Equal(t, Tree{}, tree.Below("gone"))
	assert.Equal(t, tree[4:5].Below("evals").Digest(), Tree{file("b/c")}.Digest())
}

func TestFilesWithoutSnapshot(t *testing.T) {
	t.Parallel()
	link := func(name, target string) Entry { return Entry{Path: name, Mode: fs.ModeSymlink, Target: target} }
	for name, c := range map[string]struct {
		tree Tree
		says string
	}{
		"files and directories":  {Tree{{Path: "a", Mode: fs.ModeDir | 0o755}, {Path: "a/b", Mode: 0o644}}, ""},
		"a link beside it":       {Tree{{Path: "a", Mode: 0o644}, link("b", "a")}, ""},
		"a link to nothing":      {Tree{link("b", "gone")}, ""},
		"a link upwards, within": {Tree{link("a/b", "../c")}, ""},
		"a link to the top":      {Tree{link("a/b", "..")}, ""},
		"a link above it": {
			Tree{link("a/b", "../..")},
			`that leaves the tree (it says "../..")`,
		},
		"a link to the root": {Tree{link("b", "/")}, `"b" is a link that leaves the tree`},
		"a link by a link": {
			Tree{link("a", "d/e"), link("b", "a/../../..")},
			`"b" is a link that leaves the tree`,
		},
		"a circle": {Tree{link("a", "b"), link("b", "a")}, `"a" is a link that leads round in`},
		"itself":   {Tree{link("a", "a")}, `"a" is a link that leads round in`},
		"a link to git's files": {
			Tree{link("a", "sub/.GIT/hooks")},
			`"a" is a link that leaves the tree into`,
		},
		"a pipe": {
			Tree{{Path: "p", Mode: fs.ModeNamedPipe | 0o644}},
			`"p" is neither file, directory nor link`,
		},
		"a device": {Tree{{Path: "d", Mode: fs.ModeDevice}}, `"d" is neither file, directory nor link`},
		"a short name of .git": {
			Tree{{Path: "a/GIT~1", Mode: fs.ModeDir | 0o755}},
			`"a/GIT~1" has a name that some file`,
		},
		"a stream of .git": {
			Tree{{Path: ".git::$INDEX_ALLOCATION", Mode: 0o644}},
			"has a name that some file systems take",
		},
		"a hidden mark in it": {
			Tree{{Path: ".g\u200cit", Mode: 0o644}},
			"has a name that some file systems take",
		},
		"names that begin so": {Tree{
			{Path: ".gitignore", Mode: 0o644},
			{Path: "git~10", Mode: 0o644},
			{Path: "x.git", Mode: 0o644},
		}, ""},
	} {
		if c.says == "" {
			assert.Empty(t, faultOf(c.tree), name)
		} else {
			assert.Contains(t, faultOf(c.tree), c.says, name)
		}
	}
}
