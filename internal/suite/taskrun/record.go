package taskrun

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/org/autoloop/internal/suite/format"
)

// unit is one run: a task, a side, and which repeat, from 0.
type unit struct {
	task   int
	side   role
	repeat int
}

// record is what a finished run came to. Its JSON is what is kept.
type record struct {
	Format int `json:"format"`
	// Session made it.
	Session string      `json:"session"`
	Cost    format.Cost `json:"cost"`
	Failure string      `json:"failure,omitempty"`
	// Crashed says that the agent itself failed, by no fault of the task.
	Crashed bool `json:"crashed,omitempty"`
	// Words are the agent's last words, one line.
	Words  string               `json:"words,omitempty"`
	Checks []format.CheckResult `json:"checks"`
	// Digest identifies what the agent left, as far as the diff shows it.
	Digest string `json:"digest"`

	dir string // where transcript and diff are
}

// The files of a kept run.
const (
	recordFile     = "result.json"
	transcriptFile = "transcript.txt"
	diffFile       = "changes.diff"
)

func (r record) passed() int {
	passed := 0
	for _, check := range r.Checks {
		if check.Passed {
			passed++
		}
	}
	return passed
}

// same reports whether two runs of one configuration came to the same.
func (r record) same(other record) bool {
	return r.Failure == other.Failure && r.Digest == other.Digest &&
		slices.EqualFunc(r.Checks, other.Checks, func(a, b format.CheckResult) bool { return a.Passed == b.Passed })
}

// name is where a run is kept.
func (s *session) name(u unit) string {
	return s.tasks[u.task].keys[u.side] + "/" + strconv.Itoa(u.repeat+1)
}

// recall reads a run that was kept; what cannot be read is run again.
func (s *session) recall(u unit) (record, bool) {
	name := s.name(u)
	var r record
	if !s.Archive.Read(name, recordFile, &r) || r.Format != recordFormat {
		return record{}, false
	}
	r.dir = s.Archive.Path(name)
	return r, true
}

// file is the path of one of a run's files, or "".
func (r record) file(name string) string {
	path := filepath.Join(r.dir, name)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// recordFormat is the version of what is kept. Another version is another key, so
// that nothing old is misread.
const recordFormat = 1

// runKey is all that a run depends on, as far as it can be known. Whose part it
// is counts too: a candidate that was chosen for its good runs is measured
// anew when it is the baseline.
type runKey struct {
	Format         int
	Role           string
	ID, Prompt     string
	Checks         []format.Check
	TimeoutMs      int64
	Template       string
	Agent, Version string
	Model          string
	Command        string
	CommandContent string
	Surroundings   string
	Env            []string
}

// key identifies the runs of a task on one side.
func (s *session) key(of role, p *prepared) string {
	key := runKey{
		Format: recordFormat, Role: of.String(), ID: p.ID, Prompt: p.Prompt, Checks: p.Checks,
		TimeoutMs: p.Timeout.Milliseconds(),
		Template:  p.templates[of].Manifest.Digest(), Agent: p.agent.Name(), Version: p.version,
		Model: s.Model, Env: s.Env,
		Surroundings: s.Surroundings,
	}
	if p.agent.Name() == commandAgent {
		key.Command, key.CommandContent = s.Command, s.CommandDigest
	}
	return digest(key)
}

// digest identifies a value of plain fields by its JSON.
func digest(value any) string {
	text, _ := json.Marshal(value) //nolint:errchkjson // plain fields can always be written
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
