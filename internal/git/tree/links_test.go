package tree

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
)

func TestLinkLeads(t *testing.T) {
	t.Parallel()
	others := links{
		"up": "..", "here": ".", "deep": "a/b/c", "a/out": "../..", "a/in": "../x", "loop": "loop", "ping": "pong", "pong": "ping", "abs": "/etc",
		"to-deep": "deep", "a/b/root": "../..",
	}
	for target, want := range map[string]string{
		"x": "", "./x": "", "x//y/": "", "a/../x": "", "missing/file": "", "deep/../../b": "", "a/in": "", "here/here/x": "", "to-deep/x": "", "a/b/root/x": "",
		"deep/../../../x": "", // deep is three down
		"/etc/passwd":     "leaves", "..": "leaves", "../x": "leaves", "a/../../x": "leaves", "up": "leaves", "up/x": "leaves", "a/out": "leaves", "abs/x": "leaves",
		"here/../x": "leaves", "deep/../../../..": "leaves", "a/b/root/../x": "leaves", "missing/../..": "leaves",
		".git": "git directory", "x/.GIT/config": "git directory", "here/.git": "git directory",
		"loop": "circles", "ping/x": "circles",
	} {
		l := links{"link": target}
		for name, other := range others {
			l[name] = other
		}
		if want == "" {
			assert.Empty(t, l.wrong("link"), target)
			continue
		}
		assert.Contains(t, l.wrong("link"), want, target)
	}
	assert.Empty(t, links{"a/b/link": "../../x"}.wrong("a/b/link"))
	assert.NotEmpty(t, links{"a/b/link": "../../../x"}.wrong("a/b/link"))
}

func TestLinkThatLeavesByAnothersChange(t *testing.T) {
	t.Parallel()
	entries := map[string]recorded{}
	for name, link := range map[string]string{"l": "d/e/../../x", "was-out": "../x"} {
		entries[name] = recorded{TreeEntry: git.TreeEntry{Mode: git.ModeSymlink, Path: name}, link: link}
	}
	s := &scan{Tree: &Tree{entries: entries}, changes: []decision.Change{{Path: "d/e", NewMode: git.ModeSymlink, LinkTarget: ".."}}}
	s.checkLinks()
	refused := map[string]string{}
	for _, c := range s.changes {
		refused[c.Path] = c.Refused
	}
	assert.Equal(t, map[string]string{"d/e": "", "l": "is a link that leaves the tree once the other changes are made"}, refused)
}

func FuzzLinks(f *testing.F) {
	f.Add("a/l", "../b", "b", "../x")
	f.Add("l", "l/l/l", "m", "l")
	f.Fuzz(func(t *testing.T, name, target, other, leads string) {
		l := links{name: target, other: leads}
		if l.wrong(name) == "" && strings.HasPrefix(target, "/") && name != other {
			t.Fatalf("%q to %q stays in the tree", name, target)
		}
	})
}
