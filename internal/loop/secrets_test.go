package loop

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/process"
)

const (
	ourSecret   = "0123456789abcdef"
	theirSecret = "fedcba9876543210"
	aPassword   = "password"
)

var secrets = process.NewMasker([]string{"OUR_TOKEN=" + ourSecret, "A_PASSWORD=" + aPassword}, theirSecret)

// secretTrialRepo has a file with a secret and one without, and one whose name has one.
func secretTrialRepo(t *testing.T) *trialRepo {
	t.Helper()
	l := newTrialRepo(t)
	l.commit(map[string]string{
		"has.txt": "token " + ourSecret + "\n", "has-not.txt": "no token\n",
		"of-" + ourSecret: "x\n",
	})
	return l
}

// TestLeakedSecrets: a secret in a changed file or its name that the incumbent's file has
// not, also when that has another one; in a working tree and in a bundle alike.
func TestLeakedSecrets(t *testing.T) {
	t.Parallel()
	shared := secretTrialRepo(t)
	base := shared.git("rev-parse", "main")
	const modified, added, gone = decision.Modified, decision.Added, decision.Deleted
	for name, c := range map[string]struct {
		path, text string
		kind       decision.ChangeKind
		leaks      bool
	}{
		"a secret":                    {"has-not.txt", "x " + ourSecret + "\n", modified, true},
		"in the name of a new file":   {"x-" + ourSecret + "/y", "", added, true},
		"a password, which is a word": {"new.txt", "the password is " + aPassword, added, false},
		"the secret that was there":   {"has.txt", ourSecret + "\n" + ourSecret + "\n", modified, false},
		"another than was there":      {"has.txt", "token " + theirSecret + "\n", modified, true},
		"a file that is gone":         {"of-" + ourSecret, "", gone, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changes := []decision.Change{{Path: c.path, Kind: c.kind, NewMode: "100644"}}
			if c.kind != gone {
				ids, err := shared.service.Repo.HashObjects(t.Context(), []byte(c.text))
				require.NoError(t, err)
				changes[0].NewBlob = ids[0]
			}
			reasons, err := leaks(t.Context(), shared.service.Repo, base, secrets, changes)
			require.NoError(t, err)
			assert.Equal(t, c.leaks, len(reasons) == 1, "%v", reasons)
			for _, reason := range reasons {
				assert.NotContains(t, reason.String(), ourSecret)
				assert.Contains(t, reason.String(), "has a secret in it")
			}
		})
	}
}

// TestSecretsInWordsOfAgents of ours or of its own, and is bounded.
func TestSecretsInWordsOfAgents(t *testing.T) {
	t.Parallel()
	a := &attempt{masker: secrets, reply: agent.Reply{
		Summary: "with " + ourSecret + "\nand " + strings.Repeat("long ", 1000), Model: "m " + theirSecret,
		Failure: &agent.Failure{Message: "no " + ourSecret}, Idle: &agent.Failure{Message: theirSecret},
	}}
	a.mask()
	assert.True(t, strings.HasPrefix(a.reply.Summary, "with *** and long long"), a.reply.Summary)
	assert.LessOrEqual(t, len([]rune(a.reply.Summary)), agent.MaxSummary)
	assert.Equal(t, []string{"m ***", "no ***", "***"},
		[]string{a.reply.Model, a.reply.Failure.Message, a.reply.Idle.Message})
	none := &attempt{reply: agent.Reply{Summary: "as it is"}}
	none.mask()
	assert.Equal(t, agent.Reply{Summary: "as it is"}, none.reply)
}
