package workspace

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
)

// anyTree is a tree of odd names.
func anyTree(random *rand.Rand) Tree {
	names := []string{"a", "b", "a b", "evals", "evals-2", "a\n", "\xff", "0", "ü", "1:a"}
	found := map[string]Entry{}
	for range random.IntN(8) {
		dir := ""
		for range random.IntN(3) {
			dir = path.Join(dir, names[random.IntN(len(names))])
			if _, there := found[dir]; !there {
				found[dir] = Entry{Path: dir, Mode: fs.ModeDir | []fs.FileMode{0o755, 0o700}[random.IntN(2)]}
			}
		}
		if dir != "" && !found[dir].IsDir() {
			continue
		}
		name := path.Join(dir, names[random.IntN(len(names))])
		if _, there := found[name]; there {
			continue
		}
		if random.IntN(3) == 0 {
			found[name] = Entry{Path: name, Mode: fs.ModeSymlink, Target: names[random.IntN(len(names))]}
		} else {
			found[name] = Entry{
				Path: name, Mode: []fs.FileMode{0o644, 0o755}[random.IntN(2)],
				SHA256: strings.Repeat(fmt.Sprint(random.IntN(3)), 64), Size: int64(random.IntN(3)),
			}
		}
	}
	t := Tree{}
	for _, e := range found {
		t = append(t, e)
	}
	slices.SortFunc(t, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return t
}

// TestDigestsTellTreesApart: two trees have one digest when nothing differs but what is
// no part of a state, and a manifest gives back what it was made of.
func TestDigestsTellTreesApart(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(15, 16))
	seen := map[string]string{}
	for range 400 {
		tree := anyTree(random)
		var text strings.Builder
		for _, e := range tree {
			fmt.Fprintf(&text, "%q %v %q %q\n", e.Path, e.Mode, e.SHA256, e.Target)
		}
		digest := tree.Digest()
		if other, there := seen[digest]; there {
			require.Equal(t, other, text.String())
		}
		seen[digest] = text.String()
		file, err := writeManifest(tree)
		require.NoError(t, err)
		again, err := readManifest(file)
		require.NoError(t, err)
		require.Equal(t, tree, again)
		require.Empty(t, files.Compare(tree, again))

		other := anyTree(random)
		differs := len(files.Compare(tree, other)) > 0
		if !differs {
			require.Equal(t, digest, other.Digest())
		} else if digest == other.Digest() {
			for _, d := range files.Compare(tree, other) { // only what a file's size says
				require.NotNil(t, d.Before)
				require.NotNil(t, d.After)
				require.NotEqual(t, d.Before.Size, d.After.Size)
			}
		}
	}
	assert.Greater(t, len(seen), 300)
}

// TestAChangedByteOfAManifestIsSeen: no altered manifest gives another tree.
func TestAChangedByteOfAManifestIsSeen(t *testing.T) {
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

func TestWhatNoSnapshotHas(t *testing.T) {
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
			`"a/b" is a link that leaves the tree (it says "../..")`,
		},
		"a link to the root": {Tree{link("b", "/")}, `"b" is a link that leaves the tree`},
		"a link by a link": {
			Tree{link("a", "d/e"), link("b", "a/../../..")},
			`"b" is a link that leaves the tree`,
		},
		"a circle": {Tree{link("a", "b"), link("b", "a")}, `"a" is a link that leads round in circles`},
		"itself":   {Tree{link("a", "a")}, `"a" is a link that leads round in circles`},
		"a link to git's files": {
			Tree{link("a", "sub/.GIT/hooks")},
			`"a" is a link that leaves the tree into a git directory`,
		},
		"a pipe": {
			Tree{{Path: "p", Mode: fs.ModeNamedPipe | 0o644}},
			`"p" is neither file, directory nor link`,
		},
		"a device": {Tree{{Path: "d", Mode: fs.ModeDevice}}, `"d" is neither file, directory nor link`},
		"a short name of .git": {
			Tree{{Path: "a/GIT~1", Mode: fs.ModeDir | 0o755}},
			`"a/GIT~1" has a name that some file systems take for .git`,
		},
		"a stream of .git": {
			Tree{{Path: ".git::$INDEX_ALLOCATION", Mode: 0o644}},
			"has a name that some file systems take for .git",
		},
		"a hidden mark in it": {
			Tree{{Path: ".g\u200cit", Mode: 0o644}},
			"has a name that some file systems take for .git",
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

func TestApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b  string
		apart bool
	}{
		{"/a", "/b", true},
		{"/a", "/a-b", true},
		{"/a/b", "/a/c", true},
		{"/a", "/a", false},
		{"/a", "/a/b/c", false},
		{"/a/b", "/a", false},
		{"/", "/a", false},
		{"/a", "/a/..b", false},
		{"/a/..b", "/a/b", true},
	} {
		_, _, err := apart(c.a, c.b)
		assert.Equal(t, c.apart, err == nil, "%s and %s", c.a, c.b)
		_, _, again := apart(c.b, c.a)
		assert.Equal(t, err == nil, again == nil, "%s and %s", c.b, c.a)
	}
}
