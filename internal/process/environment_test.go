package process_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/process"
)

func TestEnvironmentIsExplicit(t *testing.T) {
	t.Parallel()
	caller := []string{
		"PATH=/bin", "HOME=/home/u", "LANG=C.UTF-8", "LC_TIME=de", "GOMODCACHE=/mods", "GOCACHE=/cache",
		"API_URL=http://x",
		"GITHUB_TOKEN=t", "GH_TOKEN=t", "ACTIONS_RUNTIME_TOKEN=t", "OPENAI_API_KEY=k", "GIT_DIR=/x",
		"AUTOLOOP_PROGRAM=p", "SSH_AUTH_SOCK=/s", "OTHER=1",
	}
	env := process.Environment(caller, "/run/h",
		[]string{"API_URL", "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "GIT_DIR", "NOT_SET"})
	for _, want := range []string{
		"PATH=/bin", "HOME=/run/h", "TMPDIR=/run/h/tmp", "LANG=C.UTF-8", "LC_TIME=de",
		"GOMODCACHE=/mods", "GOCACHE=/cache", "API_URL=http://x",
	} {
		assert.Contains(t, env, want)
	}
	assert.Equal(t, "/home/u/.cargo", process.Getenv(env, "CARGO_HOME"), "caches of the caller's home are shared")
	for _, name := range []string{
		"GITHUB_TOKEN", "GH_TOKEN", "ACTIONS_RUNTIME_TOKEN", "OPENAI_API_KEY", "GIT_DIR",
		"AUTOLOOP_PROGRAM", "SSH_AUTH_SOCK", "OTHER", "NOT_SET",
	} {
		assert.False(t, slices.ContainsFunc(env,
			func(v string) bool { return len(v) > len(name) && v[:len(name)+1] == name+"=" }), name)
	}
	assert.Equal(t, "k", process.Getenv(process.Environment(caller, "/run/h", []string{"OPENAI_API_KEY"}),
		"OPENAI_API_KEY"), "a key that the program lists is passed")
}

func TestMasker(t *testing.T) {
	t.Parallel()
	m := process.NewMasker([]string{
		"GITHUB_TOKEN=abcdefgh", "MY_API_KEY=abcdefgh-longer", "NAME=plainvalue",
		"DB_PASSWORD=short", "EMPTY_TOKEN=",
	}, "handed-in-secret")
	assert.Equal(t, "a *** b *** c *** plainvalue short",
		m.String("a abcdefgh b abcdefgh-longer c handed-in-secret plainvalue short"))
	assert.Equal(t, "x", process.Masker{}.String("x"))
}

// TestMaskerKnowsASecretInOtherForms: as it is written in an address, in JSON, in
// a header, and where an escape sequence or a limit would break it.
func TestMaskerKnowsASecretInOtherForms(t *testing.T) {
	t.Parallel()
	const (
		secret  = `p+s/w"rd&0123456789`
		maxRead = 64 << 10 // by OneLine
	)
	m := process.NewMasker([]string{
		"THE_TOKEN=" + secret + "\n", "HTTPS_PROXY=http://me:proxy-word@proxy:8080",
		"NAME=http://plain:8080",
	})
	for name, text := range map[string]string{
		"as it is": secret, "in a query": url.QueryEscape(secret), "in a path": url.PathEscape(secret),
		"in JSON":   strings.Trim(string(jsonOf(t, secret)), `"`),
		"in digits": hex.EncodeToString([]byte(secret)), "of a proxy": "proxy-word",
	} {
		assert.Equal(t, "a *** b", m.String("a "+text+" b"), name)
	}
	for _, user := range []string{"", "u:", "me:", "you:", "x-access-token:"} {
		for _, after := range []string{"", ":", "\n", ":x"} {
			for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
				written := encoding.EncodeToString([]byte(user + secret + after))
				shown := m.String("Authorization: Basic " + written)
				assert.Contains(t, shown, "***", "%q %q", user, after)
				assert.Less(t, len(shown), len("Authorization: Basic ")+len(written)-len(secret), "%q %q: %s", user,
					after, shown)
			}
		}
	}
	assert.Equal(t, "say *** now", m.OneLine("say "+secret[:5]+"\x1b[31m"+secret[5:]+" now", 100))
	for limit := 2; limit < 60; limit++ {
		assert.NotContains(t, m.OneLine("it is twenty or so: "+secret, limit), secret[:3], limit)
	}
	for before := maxRead - 2*len(secret); before <= maxRead+len(secret); before++ {
		shown := m.OneLine(strings.Repeat(" ", before)+secret+" after", 100)
		assert.NotContains(t, shown, secret[:3], before)
	}
	assert.Equal(t, "***, and ***", string(m.Tail([]byte(secret[7:]+", and "+secret))))
	assert.Equal(t, "plain 8080", m.String("plain 8080"))
}

func jsonOf(t *testing.T, text string) []byte {
	t.Helper()
	made := must(json.Marshal(text))
	return made
}

func TestMaskerLooksIntoDocumentsAndHeaders(t *testing.T) {
	t.Parallel()
	m := process.NewMasker([]string{
		`OPENCODE_CONFIG_CONTENT={"provider":{"p":{"options":{"apiKey":"the-key-of-a-provider",` +
			`"baseURL":"http://here"}}}}`,
		"ANTHROPIC_CUSTOM_HEADERS=X-Team: blue\nAuthorization: Bearer 0123456789abcdef",
	})
	assert.Equal(t, "*** at http://here, blue ***",
		m.String("the-key-of-a-provider at http://here, blue 0123456789abcdef"))
}

func TestMaskerHidesEachLineOfAKey(t *testing.T) {
	t.Parallel()
	m := process.NewMasker([]string{"DEPLOY_PRIVATE_KEY=-----BEGIN KEY-----\nabcdefghijklmnop\nqrstuvwxyz012345\n" +
		"-----END KEY-----"})
	assert.Equal(t, "found: *** and ***", m.String("found: qrstuvwxyz012345 and abcdefghijklmnop"))
	const parser = "if line == \"-----BEGIN KEY-----\" {"
	assert.Equal(t, parser, m.String(parser), "what all keys have is no secret")
	assert.False(t, m.Leaks([]byte(parser)))
	assert.Equal(t, "***", m.String("-----BEGIN KEY-----\nabcdefghijklmnop\nqrstuvwxyz012345\n-----END KEY-----"))
}

func TestMaskerSaysWhatLeaks(t *testing.T) {
	t.Parallel()
	m := process.NewMasker([]string{"A_TOKEN=0123456789abcdef", "B_PASSWORD=password"})
	for text, want := range map[string]bool{
		"x 0123456789abcdef": true, base64.StdEncoding.EncodeToString([]byte("u:0123456789abcdef")): true,
		"password": false, "": false,
	} {
		assert.Equal(t, want, m.Leaks([]byte(text)), text)
	}
	const other = "fedcba9876543210"
	two := m.With(process.NewMasker(nil, other))
	for _, c := range []struct {
		text, before string
		more         bool
	}{
		{"x 0123456789abcdef", "0123456789abcdef", false},
		{"x 0123456789abcdef", other, true},
		{"0123456789abcdef " + other, "0123456789abcdef", true},
		{"0123456789abcdef", "0123456789abcdef " + other, false},
		{"x", "", false},
	} {
		assert.Equal(t, c.more, two.LeaksMore([]byte(c.text), []byte(c.before)), "%+v", c)
	}
	both := m.With(process.NewMasker(nil, "another-secret-of-it"))
	assert.True(t, both.Leaks([]byte("another-secret-of-it")))
	assert.False(t, m.Leaks([]byte("another-secret-of-it")))
	assert.Equal(t, "*** ***", both.String("another-secret-of-it 0123456789abcdef"))
	longer := process.NewMasker(nil, "0123456789abcdef-and-more")
	for _, of := range []process.Masker{m.With(longer), longer.With(m)} {
		assert.Equal(t, "*** ***", of.String("0123456789abcdef-and-more 0123456789abcdef"),
			"a secret that contains another goes first")
	}
	assert.Equal(t, "***-and-more", m.String("0123456789abcdef-and-more"), "and both stay what they were")
}

func TestSecretsInSettings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"npm": {"registry=https://r.example/\n//r.example/:_authToken=npm_12345678\n_auth = \"dTpw\"\n" +
			"always-auth=true\naccess=restricted\n", []string{"npm_12345678", "dTpw"}},
		"pip": {
			"[global]\nindex-url = https://me:pass-word@r.example/simple\ntrusted-host = r.example\n",
			[]string{"pass-word"},
		},
		"a token alone": {"index-url=https://tok-en@r.example/simple\n", []string{"tok-en"}},
		"maven": {
			"<server>\n  <username>me</username>\n  <password>pass-word</password>\n</server>\n",
			[]string{"pass-word"},
		},
		"yaml":           {"npmAuthToken: \"tok-en\"\nnpmRegistryServer: \"https://r.example\"\n", []string{"tok-en"}},
		"nothing secret": {"# token\ncolor: true\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, process.SecretsInSettings([]byte(c.text)))
		})
	}
}
