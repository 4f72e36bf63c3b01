package cli_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/cli"
)

func TestCompareColoursOnATerminalOnly(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write(filepath.Join(d.root, "a.json"), `{"scores": [{"taskId": "a", "objective": {"passed": 1, "total": 2}}]}`)
	d.write(filepath.Join(d.root, "b.json"), `{"scores": [{"taskId": "a", "objective": {"passed": 0, "total": 2}}]}`)
	run := func(terminal bool, vars map[string]string, args ...string) string {
		var out, errors bytes.Buffer
		code := cli.Iterate(nil, "")(t.Context(), cli.Env{
			Args: append([]string{"compare", "a.json", "b.json"}, args...), Stdin: strings.NewReader(""), Stdout: &out,
			Stderr: &errors,
			Dir:    d.root, Terminal: terminal, Getenv: func(name string) string { return vars[name] },
		})
		assert.Equal(t, 1, code, errors.String())
		return out.String()
	}
	assert.Contains(t, run(true, nil), "\x1b[31mregressed\x1b[0m")
	assert.NotContains(t, run(true, map[string]string{"NO_COLOR": "1"}), "\x1b")
	assert.NotContains(t, run(false, nil), "\x1b")
	assert.NotContains(t, run(true, nil, "--markdown"), "\x1b")
	assert.NotContains(t, run(true, nil, "--json"), "\x1b")
}
