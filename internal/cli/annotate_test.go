package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnnotations(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.program("bad,one:two%", "")
	d.program("bad", "schedule: \"::set-output name=x::y %0A ##[add-mask]\"")
	d.vars["GITHUB_ACTIONS"], d.vars["GITHUB_WORKSPACE"] = "true", filepath.Dir(d.root)
	below := filepath.Base(d.root) + "/.autoloop/programs/"
	a := d.run()
	require.Zero(t, a.code, a.errors)
	lines := strings.Split(strings.TrimSpace(a.errors), "\n")
	require.Len(t, lines, 2, a.errors)
	assert.True(t, strings.HasPrefix(lines[0], "::error file="+below+"bad.md,line=2,title=Autoloop%3A bad::"), lines[0])
	assert.Contains(t, lines[0], "%250A", "the escape of a text is text")
	assert.True(t, strings.HasPrefix(lines[1],
		"::error file="+below+"bad%2Cone%3Atwo%25.md,title=Autoloop%3A "), lines[1])
	assert.NotContains(t, a.out, "\n::")
	assert.NotContains(t, a.out, "##[")
	assert.Contains(t, a.out, "##\u200b[add-mask]")

	file := filepath.Join(d.dir, "annotations")
	d.vars["AUTOLOOP_ANNOTATIONS"] = file
	a = d.run()
	assert.Empty(t, a.errors)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, strings.Join(lines, "\n")+"\n", string(text))

	d.vars["GITHUB_ACTIONS"] = ""
	a = d.run()
	assert.NotContains(t, a.errors, "::error ")
}

func TestFailureIsAnnotated(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.vars["GITHUB_ACTIONS"] = "true"
	a := d.run("--now", "::set-output name=x::\ny")
	assert.Equal(t, 2, a.code)
	said, annotated, _ := strings.Cut(strings.TrimSpace(a.errors), "\n")
	assert.True(t, strings.HasPrefix(said, "scheduler: --now "), said)
	assert.True(t, strings.HasPrefix(annotated, "::error title=scheduler::--now "), annotated)
	assert.NotContains(t, annotated, "\n")
}
