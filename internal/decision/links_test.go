package decision_test

import (
	
	
	
	
	
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	

	"github.com/org/autoloop/internal/decision"
)

func TestWhereLinksLead(t *testing.T) {
	t.Parallel()
	const leaves, round = "is a link that leaves the tree", "is a link that leads round in circles"
	for name, c := range map[string]struct {
		links decision.Links // "it" is looked at
		wrong string
	}{
		"beside it":                       {decision.Links{"it": "a"}, ""},
		"nowhere yet":                     {decision.Links{"it": "a/b/c"}, ""},
		"up and down again":               {decision.Links{"d/it": "../a"}, ""},
		"an absolute path":                {decision.Links{"it": "/etc/passwd"}, leaves},
		"above the tree":                  {decision.Links{"it": "../a"}, leaves},
		"above the tree, back again":      {decision.Links{"it": "../tree/a"}, leaves},
		"above from below":                {decision.Links{"d/it": "../../a"}, leaves},
		"dots that stay":                  {decision.Links{"d/it": ".././a/../b"}, ""},
		"over a link that goes down":      {decision.Links{"it": "l/../../a", "l": "d/e"}, ""},
		"over a link that goes deeper":    {decision.Links{"it": "l/../a", "l": "d/e"}, ""},
		"over a link that leaves":         {decision.Links{"it": "l/a", "l": ".."}, leaves},
		"over a link to an absolute path": {decision.Links{"it": "l/a", "l": "/"}, leaves},
		"to itself":                       {decision.Links{"it": "it"}, round},
		"to another that leads back":      {decision.Links{"it": "l", "l": "it"}, round},
		"into the repository":             {decision.Links{"it": ".git/hooks"}, leaves + " into a git directory"},
		"into the repository, other case": {decision.Links{"it": "a/.GIT/config"}, leaves + " into a git directory"},
		"over a link into the repository": {
			decision.Links{"it": "l/config", "l": ".git"},
			leaves + " into a git directory",
		},
		"as many links as the kernel takes": {chain(40), ""},
		"one more":                          {chain(41), round},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := "it"
			if _, there := c.links[path]; !there {
				path = "d/it"
			}
			assert.Equal(t, c.wrong, c.links.Wrong(path))
		})
	}
}

// chain is a link that takes so many to get to the file.
func chain(links int) decision.Links {
	l := decision.Links{}
	name := "it"
	for i := range links - 1 {
		next := strings.Repeat("x", i+1)
		l[name], name = next, next
	}
	l[name] = "file"
	return l
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
	assert.Equal(t, map[string]string{
		"d": "is a link that leaves the tree", "mine": "is a link that leaves the tree", "said": "is a device",
		"fine": "is a link that leaves the tree once the other changes are made",
	}, reasons, "a link that was wrong before is nobody's change")
}
