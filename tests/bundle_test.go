package tests

import (
	"path/filepath"

	"github.com/stretchr/testify/require"
)

// propose makes a bundle beside the repository.
func (w *world) propose(name string) (string, iteration) {
	w.t.Helper()
	dir := filepath.Join(w.side, name)
	a := w.binary("iterate", "job", "propose", "--program", "p", "--json", "--out", dir)
	require.Zero(w.t, a.code, a.stderr)
	list := w.decode(a.stdout)
	require.Len(w.t, list, 1)
	return dir, list[0]
}

func (w *world) publish(dir string) iteration {
	w.t.Helper()
	a := w.binary("iterate", "job", "publish", "--program", "p", "--json", dir)
	require.Zero(w.t, a.code, a.stderr)
	list := w.decode(a.stdout)
	require.Len(w.t, list, 1)
	return list[0]
}

// refs are all branches.
func (w *world) refs() string { return w.git("for-each-ref", "refs/heads") }
