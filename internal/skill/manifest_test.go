package skill

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/golden"
)

func sample() Tree {
	return Tree{
		{Path: "a", Mode: fs.ModeDir | 0o700},
		{Path: "a/\xff\n", Mode: 0o644, SHA256: strings.Repeat("0", 64), Size: 3},
		{Path: "b", Mode: fs.ModeSymlink, Target: "a/\xfe"},
	}
}

func TestHostileManifests(t *testing.T) {
	t.Parallel()
	entry := func(text string) string { return `{"schema": 1, "entries": [{` + text + `}]}` }
	const file = `"kind": "file", "mode": "0644"`
	for text, want := range map[string]string{
		"":                                   "is no manifest",
		`{"schema": 2}`:                      "has the schema 2",
		entry(`"path_base64": "!", ` + file): "is no manifest, or was cut off",
		entry(`"path": "x", ` + file):        "its digest is not that of its entries",
	} {
		_, err := readManifest([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

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

func FuzzManifest(f *testing.F) {
	text, err := writeManifest(sample())
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(`{"schema": 1, "digest": "", "entries": [{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := readManifest(data)
		if err != nil {
			return
		}
		again, err := writeManifest(tree)
		require.NoError(t, err)
		read, err := readManifest(again)
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprint(tree), fmt.Sprint(read))
	})
}

// treeOf reads a tree: a file, "a/" a directory, "a>b" a link, "a|" a pipe.
func treeOf(text string) (tree Tree) {
	for entry := range strings.FieldsSeq(text) {
		name, target, link := strings.Cut(entry, ">")
		e := Entry{Path: strings.TrimRight(name, "/|"), Mode: 0o644}
		switch {
		case link:
			e.Mode, e.Target = fs.ModeSymlink, target
		case strings.HasSuffix(name, "/"):
			e.Mode = fs.ModeDir | 0o755
		case strings.HasSuffix(name, "|"):
			e.Mode |= fs.ModeNamedPipe
		}
		tree = append(tree, e)
	}
	return tree
}

func TestBelow(t *testing.T) {
	t.Parallel()
	tree := treeOf("SKILL.md evals/ evals-2/a evals/a evals/b/c x/evals/a")
	assert.Equal(t, treeOf("a b/c"), tree.Below("evals"))
	assert.Equal(t, treeOf("c"), tree.Below("evals/b"))
	assert.Equal(t, Tree{}, tree.Below("gone"))
	assert.Equal(t, tree[4:5].Below("evals").Digest(), treeOf("b/c").Digest())
}

func TestTreesWithoutSnapshot(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{
		"files and directories":  "a/ a/b =>",
		"a link beside it":       "a b>a =>",
		"a link to nothing":      "b>gone =>",
		"a link upwards, within": "a/b>../c =>",
		"a link to the top":      "a/b>.. =>",
		"names that begin so":    ".gitignore git~10 x.git =>",
		"a link above it":        "a/b>../..",
		"a link to the root":     "b>/",
		"a link by a link":       "a>d/e b>a/../../..",
		"a circle":               "a>b b>a",
		"itself":                 "a>a",
		"a link to git's files":  "a>sub/.GIT/hooks",
		"a pipe":                 "p|",
		"a short name of .git":   "a/GIT~1/",
		"a stream of .git":       ".git::$INDEX_ALLOCATION",
		"a hidden mark in it":    ".g\u200cit",
	}, func(_ *testing.T, input string) any { return faultOf(treeOf(input)) })
}
