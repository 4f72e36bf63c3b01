package history

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCheckpointsThatCannotBeRead are errors that say what is wrong: they are computed
// again then.
func TestCheckpointsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	const began = `{"version":6,"segments":1,"lines":2,"sha256":"x",`
	for text, says := range map[string]string{
		"":                          "read the checkpoint: unexpected end of JSON input",
		"{}":                        "it has version 0, and this version of Autoloop knows 6",
		"null":                      "it has version 0",
		"[]":                        "read the checkpoint: json: cannot unmarshal array",
		`{"version":"6"}`:           "read the checkpoint: json: cannot unmarshal string",
		`{"version":5}`:             "it has version 5, and this version of Autoloop knows 6",
		`{"version":7}`:             "it has version 7, and this version of Autoloop knows 6",
		began + `"tried":"%"}`:      "illegal base64",
		began + `"segments":"one"}`: "cannot unmarshal string",
		began + `"summary":{"Open":{"event":"decided"}}}`:           `it has an event "decided" in place of another`,
		began + `"summary":{"Open":{"x":1}}}`:                       `read the checkpoint: it has no "event"`,
		began + `"summary":{"Best":"good"}}`:                        "not a number",
		began + `"standing":{"decision":{"event":"set"}}}`:          `it has an event "set" in place of another`,
		began + `"standing":{"checked":[{"event":"telepathy"}]}}`:   `it has an event "telepathy" in place of another`,
		began + `"standing":{"measured":[{"event":"measured"},3]}}`: "read the checkpoint: json: cannot unmarshal number",
	} {
		_, err := DecodeCheckpoint([]byte(text))
		require.ErrorContains(t, err, says, text)
	}
	c, err := DecodeCheckpoint([]byte(began + `"more":1}`))
	require.NoError(t, err, "a field that is not known is left out")
	assert.Equal(t, Chain{Segments: 1, Lines: 2, SHA256: "x"}, c.Chain)
	assert.NotNil(t, c.Summary().Settings)
}

// TestACheckpointIsStoredAsItIs: what is written of any ledger is read again as the same,
// and goes on as the same.
func TestACheckpointIsStoredAsItIs(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		segments := smallSegments(t, seed+10, 5, 14)
		one, other := &Checkpoint{}, &Checkpoint{}
		for _, segment := range segments {
			var err error
			one, err = one.Extend(segment)
			require.NoError(t, err)
			other, err = other.Extend(segment)
			require.NoError(t, err)
			text, err := other.Encode()
			require.NoError(t, err)
			other, err = DecodeCheckpoint(text)
			require.NoError(t, err)
			again, err := other.Encode()
			require.NoError(t, err)
			require.Equal(t, string(text), string(again))
			require.True(t, one.Agrees(other))
			require.True(t, other.Agrees(one))
			require.Equal(t, one.Measured(), other.Measured())
			require.Equal(t, one.standing.Fixes(), other.standing.Fixes())
		}
	}
}

// TestCheckpointsThatDoNotAgree: one that says anything else of a ledger is another one.
func TestCheckpointsThatDoNotAgree(t *testing.T) {
	t.Parallel()
	sealed := &Checkpoint{}
	for _, segment := range smallSegments(t, 3, 2, 20) {
		var err error
		sealed, err = sealed.Extend(segment)
		require.NoError(t, err)
	}
	require.True(t, sealed.Agrees(sealed.clone()))
	for name, change := range map[string]func(*Checkpoint){
		"segments":              func(c *Checkpoint) { c.Segments++ },
		"lines":                 func(c *Checkpoint) { c.Lines++ },
		"digest":                func(c *Checkpoint) { c.SHA256 += "0" },
		"digest without detail": func(c *Checkpoint) { c.Numbers += "0" },
		"best":                  func(c *Checkpoint) { c.summary.Best = numberOf(-1) },
		"a setting":             func(c *Checkpoint) { c.summary.Settings["note"] = "other" },
		"an attempt":            func(c *Checkpoint) { c.summary.Attempts[3].Focus += "x" },
		"a commit":              func(c *Checkpoint) { c.summary.Attempts[3].commit += "x" },
		"what was used":         func(c *Checkpoint) { c.summary.Attempts[3].known.USD++ },
		"the lead":              func(c *Checkpoint) { c.summary.Lead.sign-- },
		"what was tried":        func(c *Checkpoint) { c.tried[7] ^= 1 },
		"a phase":               func(c *Checkpoint) { c.standing.Phase += "x" },
		"when it was pushed":    func(c *Checkpoint) { c.standing.PushedAt = c.standing.PushedAt.Add(time.Second) },
		"a decision":            func(c *Checkpoint) { c.standing.Decision.Reasons = nil },
		"what was measured":     func(c *Checkpoint) { c.standing.measured = nil },
		"what is shown":         func(c *Checkpoint) { c.shown = c.shown[1:] },
		"a focus":               func(c *Checkpoint) { c.summary.Earlier.Focus = &Focused{Definition: "x"} },
		"costs of a baseline":   func(c *Checkpoint) { c.summary.baselines = append(c.summary.baselines, expended{Iteration: 1}) },
		"statuses taken over":   func(c *Checkpoint) { c.summary.adopted = []string{"error"} },
	} {
		other := sealed.clone()
		change(other)
		assert.False(t, sealed.Agrees(other), name)
		assert.False(t, other.Agrees(sealed), name)
	}
}

// TestAStoredCheckpointThatSomebodyChanged is refused, or is one that can be written again:
// nothing in it makes a run crash that begins with it.
func TestAStoredCheckpointThatSomebodyChanged(t *testing.T) {
	t.Parallel()
	sealed := &Checkpoint{}
	for _, segment := range smallSegments(t, 5, 2, 14) {
		var err error
		sealed, err = sealed.Extend(segment)
		require.NoError(t, err)
	}
	sealed.tried = nil // most of its bytes
	text, err := sealed.Encode()
	require.NoError(t, err)
	var whole any
	require.NoError(t, json.Unmarshal(text, &whole))
	chance := rand.New(rand.NewPCG(7, 7))
	read := 0
	for range 100 {
		changed, err := json.Marshal(withOther(chance, whole, 0))
		require.NoError(t, err)
		c, err := DecodeCheckpoint(changed)
		if err != nil {
			continue
		}
		read++
		b := c.Summary()
		b.Spent(time.Time{})
		b.Statuses()
		b.Focuses("de0")
		next, err := c.Extend(append(c.head().line(), `{"event":"decided","iteration":1,"outcome":"accepted","best":3,"focus":"x"}`+"\n"...))
		if _, wrong := c.Shown(); wrong != nil {
			require.Equal(t, wrong, err, "what is shown is read when it is needed")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.Segments+1, next.Segments)
	}
	assert.Greater(t, read, 20)
}

// withOther is a JSON value in which about one value in thirty is another of its kind.
func withOther(chance *rand.Rand, value any, depth int) any {
	other := depth > 1 && chance.IntN(30) == 0
	switch value := value.(type) {
	case map[string]any:
		again := map[string]any{}
		for name, v := range value {
			if !other || chance.IntN(2) == 0 {
				again[name] = withOther(chance, v, depth+1)
			}
		}
		return again
	case []any:
		var again []any
		for _, v := range value {
			for range 1 + chance.IntN(20)/19 {
				again = append(again, withOther(chance, v, depth+1))
			}
		}
		return again[:len(again)-min(len(again), chance.IntN(30)/28)]
	case float64:
		if other {
			return []float64{0, -1, 1, 1e9, -1e15}[chance.IntN(5)]
		}
		return value
	default:
		return value
	}
}

func TestAnArchiveIsStoredAsItIs(t *testing.T) {
	t.Parallel()
	sealed := &Checkpoint{}
	for _, segment := range smallSegments(t, 4, 2, 10) {
		var err error
		sealed, err = sealed.Extend(segment)
		require.NoError(t, err)
	}
	last, until := sealed.Iteration()
	archive := &Archive{Sum: sealed, Files: []ArchiveFile{{Name: "a.jsonl", SHA256: "0", Bytes: 5, First: 1, Last: 2, LastIteration: last, Until: until}}}
	text, err := archive.Encode()
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(string(text), "}\n"))
	again, err := DecodeArchive(text)
	require.NoError(t, err)
	assert.Equal(t, archive.Files, again.Files)
	assert.True(t, sealed.Agrees(again.Sum))
	assert.Equal(t, digest(text), Digest(text))
	assert.Len(t, Digest(nil), 64)
	for wrong, says := range map[string]string{
		"":                             "read the archive: unexpected end of JSON input",
		"{}":                           "read the archive: read the checkpoint: unexpected end of JSON input",
		`{"checkpoint":{"version":2}}`: "read the archive: read the checkpoint: it has version 2",
		`{"checkpoint":{"version":7}}`: "read the archive: read the checkpoint: it has version 7",
		`{"files":{},"checkpoint":{}}`: "read the archive: json: cannot unmarshal object",
	} {
		_, err := DecodeArchive([]byte(wrong))
		require.ErrorContains(t, err, says, wrong)
	}
	for version := firstArchived; version <= checkpointVersion; version++ {
		_, err := DecodeArchive(fmt.Appendf(nil, `{"files":[],"checkpoint":{"version":%d}}`, version))
		assert.NoError(t, err, "what an earlier version archived cannot be computed again")
	}
}

func TestTheEndOfWhatIsSealed(t *testing.T) {
	t.Parallel()
	none := &Checkpoint{}
	last, until := none.Iteration()
	assert.Zero(t, last)
	assert.True(t, until.IsZero())
	assert.Zero(t, none.Measured())
	sealed, err := none.Extend([]byte(`{"event":"decided","iteration":3,"time":"2026-01-02T00:00:00Z","outcome":"rejected"}
{"event":"decided","iteration":4,"time":"2026-01-03T00:00:00Z","outcome":"error"}
{"event":"measured","iteration":5,"role":"candidate","metric":1}
{"event":"measured","iteration":6,"role":"incumbent","metric":1}
`))
	require.NoError(t, err)
	last, until = sealed.Iteration()
	assert.Equal(t, 4, last)
	assert.Equal(t, time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC), until)
	assert.Equal(t, 5, sealed.Measured(), "the incumbent is no candidate")
}

// TestNoTextIsForgottenByTheFilter: it may say of a text that it is there though it is not,
// but seldom, and never the reverse.
func TestNoTextIsForgottenByTheFilter(t *testing.T) {
	t.Parallel()
	var f filter
	assert.False(t, f.may("anything"), "it is empty")
	assert.Empty(t, f.with(""), "no text keeps nothing")
	text := func(n int) string { return digest(fmt.Append(nil, n)) }
	const many = 20_000
	for n := range many {
		f = f.with(text(n))
	}
	assert.Len(t, f, filterBytes)
	wrong := 0
	for n := range many {
		if n%10 == 0 {
			require.True(t, f.may(text(n)))
		}
		if n%4 == 0 && f.may(text(n+many)) {
			wrong++
		}
	}
	assert.Less(t, wrong, many/4/20, "one in twenty")
	stored, err := json.Marshal(f)
	require.NoError(t, err)
	var again filter
	require.NoError(t, json.Unmarshal(stored, &again))
	assert.True(t, again.may(text(7)))
	assert.True(t, filter{1, 2, 3}.may("anything"), "one of another size says nothing, which is no no")
	assert.Len(t, filter{1, 2, 3}.with("a"), filterBytes)
	assert.True(t, filter{1, 2, 3}.with("a").may("a"))
}
