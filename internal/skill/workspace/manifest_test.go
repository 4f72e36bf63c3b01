package workspace

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	entry := func(text string) string { return `{"schema": 1, "entries": [` + text + `]}` }
	for name, c := range map[string]struct{ text, want string }{
		"nothing":        {"", "is no manifest"},
		"a later schema": {`{"schema": 2}`, "has the schema 2"},
		"upwards":        {entry(`{"path": "../x", "kind": "file", "mode": "0644"}`), "entries[0] has a path"},
		"the root":       {entry(`{"path": "/x", "kind": "file", "mode": "0644"}`), "entries[0] has a path"},
		"itself":         {entry(`{"path": ".", "kind": "directory", "mode": "0644"}`), "entries[0] has a path"},
		"no path":        {entry(`{"kind": "file", "mode": "0644"}`), "entries[0] has a path"},
		"upwards, coded": {
			entry(`{"path_base64": "Li4v/w==", "kind": "file", "mode": "0644"}`),
			"entries[0] has a path",
		},
		"no base64": {entry(`{"path_base64": "!", "kind": "file", "mode": "0644"}`), "entries[0] has a path"},
		"setuid":    {entry(`{"path": "x", "kind": "file", "mode": "4755"}`), "permission bits"},
		"a device":  {entry(`{"path": "x", "kind": "device", "mode": "0644"}`), "permission bits"},
		"twice": {entry(`{"path": "x", "kind": "file", "mode": "0644"}, {"path": "x", "kind": "file", "mode": ` +
			`"0644"}`), "out of order"},
		"no digest": {
			entry(`{"path": "x", "kind": "file", "mode": "0644"}`),
			"its digest is not that of its entries",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := readManifest([]byte(c.text))
			require.ErrorContains(t, err, c.want)
		})
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
