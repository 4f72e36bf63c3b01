package tests

import (
	"encoding/json"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

const ws = "s-autoresearch"

func (w *world) state(name string) string {
	w.t.Helper()
	return state(w.t, filepath.Join(w.dir, name))
}

// skillEnd is what --json prints at the end of a run.
type skillEnd struct {
	Name, Ended, Workspace string
	BestVersion            int `json:"best_version"`
	Applied                bool
	Iterations             []struct {
		Iteration         int
		Score             *float64
		Action, Changelog string
	}
	Report struct{ Class, Diff string }
}

func (w *world) skillEnd(more ...string) skillEnd {
	w.t.Helper()
	a := w.skill(append(more, "--json")...)
	require.Zero(w.t, a.code, a.stderr)
	var end skillEnd
	require.NoError(w.t, json.Unmarshal([]byte(a.stdout), &end), a.stdout)
	return end
}
