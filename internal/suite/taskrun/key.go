package taskrun

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/org/autoloop/internal/suite/format"
)

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
