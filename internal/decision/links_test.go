package decision_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/tests/golden"
)

// TestTargetsOfLinks says what is wrong with the first of the links.
func TestTargetsOfLinks(t *testing.T) {
	t.Parallel()
	const leaves, round = "is a link that leaves the tree", "is a link that leads round in circles"
	chain := func(links int) (text string) {
		for i := range links {
			text += strings.Repeat("x", i+1) + "->" + strings.Repeat("x", i+2) + " "
		}
		return text
	}
	for name, c := range map[string]struct{ links, wrong string }{
		"beside it":                         {"it->a", ""},
		"nowhere yet":                       {"it->a/b/c", ""},
		"up and down again":                 {"d/it->../a", ""},
		"an absolute path":                  {"it->/etc/passwd", leaves},
		"above the tree":                    {"it->../a", leaves},
		"above the tree, back again":        {"it->../tree/a", leaves},
		"above from below":                  {"d/it->../../a", leaves},
		"dots that stay":                    {"d/it->.././a/../b", ""},
		"over a link that goes down":        {"it->l/../../a l->d/e", ""},
		"over a link that goes deeper":      {"it->l/../a l->d/e", ""},
		"over a link that leaves":           {"it->l/a l->..", leaves},
		"over a link to an absolute path":   {"it->l/a l->/", leaves},
		"to itself":                         {"it->it", round},
		"to another that leads back":        {"it->l l->it", round},
		"into the repository":               {"it->.git/hooks", leaves + " into a git directory"},
		"into the repository, other case":   {"it->a/.GIT/config", leaves + " into a git directory"},
		"over a link into the repository":   {"it->l/config l->.git", leaves + " into a git directory"},
		"as many links as the kernel takes": {chain(40), ""},
		"one more":                          {chain(41), round},
	} {
		links := decision.Links{}
		for _, link := range strings.Fields(c.links) {
			at, to, _ := strings.Cut(link, "->")
			links[at] = to
		}
		first, _, _ := strings.Cut(c.links, "->")
		assert.Equal(t, c.wrong, links.Wrong(first), name)
	}
}

func TestLinksThatOtherChangesTurn(t *testing.T) {
	t.Parallel()
	before := decision.Links{"out": "d/../../x", "fine": "d/a"}
	changes := []decision.Change{
		{Path: "d", Kind: decision.Added},
		{Path: "mine", Kind: decision.Added},
		{Path: "said", Kind: decision.Added, Refused: "is a device"},
	}
	after := decision.Links{"out": "d/../../x", "fine": "d/../a", "d": "..", "mine": "/x", "said": "/y"}
	got := decision.RefuseLinks(before, after, changes)
	reasons := map[string]string{}
	for _, c := range got {
		reasons[c.Path] = c.Refused
	}
	golden.Line(t, reasons) // a link that was wrong before is nobody's change
}
