package tests

import (
	"encoding/json"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

// plan is what autoloop.json says, as far as these tests look.
type plan struct {
	Selected     *string
	SelectedFile *string `json:"selected_file"`
	Deferred     []string
	Unconfigured []string
	NoPrograms   bool `json:"no_programs"`
	NotDue       bool `json:"not_due"`
	Warnings     []string
	Errors       []struct {
		Name, File, Message string
		Line                int
	}
	Skipped []struct{ Name, Reason string }
	Matrix  struct{ Program []string }
}

func (w *project) plan(args ...string) plan {
	w.t.Helper()
	w.ok("scheduler", args...)
	return w.readPlan()
}

func (w *project) readPlan() plan {
	w.t.Helper()
	data := readText(w.t, filepath.Join(filepath.Dir(w.side), "gh-aw", "autoloop.json"))
	var p plan
	require.NoError(w.t, json.Unmarshal([]byte(data), &p))
	return p
}

const goodProgram = "---\nschedule: hourly\n---\n## Goal\nx\n## Target\n`a.txt`\n## Evaluation\n```sh\necho 1\n```\n"
