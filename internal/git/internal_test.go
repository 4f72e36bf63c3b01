package git

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestVersionBelow(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"2.37.9": true, "2.38.0": false, "2.39.5 (Apple Git-154)": false, "2.38.windows.1": false, "1.99": true,
		"3.0":     false,
		"2.100.0": false, "2.9": true, "": false, "next": false, "2": false,
	} {
		assert.Equal(t, want, versionBelow(version, "2.38"), version)
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	e := newEnvironment([]string{
		"PATH=/bin", "GIT_DIR=x", "git_dir=x", "GIT_SSH_COMMAND=ssh -i k", "GIT_CONFIG_GLOBAL=/g", "LANG=de",
		"LANGUAGE=de", "LC_ALL=de",
		"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=http.x.extraHeader", "GIT_CONFIG_VALUE_0=secret",
		"GIT_CONFIG_KEY_1=core.hooksPath", "GIT_CONFIG_VALUE_1=evil", "GIT_CONFIG_KEY_2=url.a.insteadOf",
		"GIT_CONFIG_VALUE_2=b",
	})
	assert.Equal(t, []string{"PATH=/bin", "GIT_CONFIG_GLOBAL=/g", "LANG=de"}, e.base)
	local := e.of(Identity{}, nil, false)
	assert.NotContains(t, local, "GIT_SSH_COMMAND=ssh -i k")
	assert.NotContains(t, local, "GIT_CONFIG_COUNT=3")
	remote := e.of(Identity{}, []Setting{{"a.b", "c"}}, true)
	assert.Contains(t, remote, "GIT_SSH_COMMAND=ssh -i k")
	assert.Subset(t, remote, []string{
		"GIT_CONFIG_COUNT=3", "GIT_CONFIG_VALUE_0=secret",
		"GIT_CONFIG_KEY_1=url.a.insteadOf", "GIT_CONFIG_KEY_2=a.b",
	})
	assert.NotContains(t, remote, "GIT_CONFIG_VALUE_1=evil")
}

func FuzzParseObject(f *testing.F) {
	f.Add("HEAD:x", []byte("HEAD:x missing\n"))
	f.Add("x", []byte("0123 blob 3\nabc\n"))
	f.Add("x", []byte("0123 blob 99999999999999999999\nabc\n"))
	f.Add("x", []byte("0123 blob -1\n"))
	f.Fuzz(func(t *testing.T, name string, out []byte) {
		o, rest, err := parseObject(name, out)
		if err == nil && len(o.Data)+len(rest) > len(out) {
			t.Fatal("more came out than went in")
		}
	})
}
