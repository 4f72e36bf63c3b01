package process

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
)

// mask stands where a secret was.
const mask = "***"

const (
	// minSecret is the length of the shortest value that is masked; shorter ones
	// would hide ordinary words.
	minSecret = 8
	// minLeak is the length of the shortest value that Leaks looks for: a
	// password may be a word that a file has anyway, a token is not.
	minLeak = 16
	// maxWords bounds what OneLine looks at, in bytes. It reads as much again, so that a
	// secret is not cut there.
	maxWords = 64 << 10
)

// Masker replaces secret values in texts: as they are, and as they are written
// in an address, a JSON text, Base64 (also in the midst of other bytes, as in a
// header for basic authentication) and hexadecimal digits. Whoever wants to can
// write a secret in a way that no Masker knows. The zero Masker replaces nothing.
type Masker struct{ forms []form } // the longest first

// form is a secret as it may be written. Leaks looks for those of secrets that are no words.
type form struct {
	text  []byte
	leaks bool
}

// NewMasker returns a Masker for the values of env (NAME=value) whose names say
// that they are secret, for what is secret in those that are JSON, addresses or
// headers, and for more values.
func NewMasker(env []string, more ...string) Masker {
	var m Masker
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		if secretName(name) {
			m = m.adding(value)
		}
		_, password := loginIn(value)
		for _, part := range append(secretParts(name, value), password) {
			m = m.adding(part)
		}
	}
	for _, value := range more {
		m = m.adding(value)
	}
	return m.With(Masker{})
}

// keyBoundary is what the first and the last line of a key begin with, which are the same
// for every key.
const keyBoundary = "-----"

// adding takes a secret, and each line of one that has several.
func (m Masker) adding(secret string) Masker {
	secret = strings.TrimSpace(secret)
	if len(secret) < minSecret {
		return m
	}
	for _, text := range formsOf(secret) {
		m.forms = append(m.forms, form{[]byte(text), len(secret) >= minLeak})
	}
	if strings.Contains(secret, "\n") {
		for line := range strings.Lines(secret) {
			if !strings.HasPrefix(line, keyBoundary) {
				m = m.adding(line)
			}
		}
	}
	return m
}

// secretNames are parts of the names of variables and settings whose values are secrets.
var secretNames = lazyregexp.New(`(?i)TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|CREDENTIAL|_KEY$|PRIVATE_KEY|ACCESS_KEY`)

func secretName(name string) bool { return secretNames().MatchString(name) }

// secretParts are what is secret in a variable that holds a JSON document or
// headers.
func secretParts(name, value string) []string {
	var parts []string
	if strings.HasPrefix(strings.TrimSpace(value), "{") {
		parts = SecretsIn([]byte(value))
	}
	if strings.Contains(strings.ToUpper(name), "HEADER") {
		for word := range strings.FieldsSeq(value) {
			if len(word) >= minLeak {
				parts = append(parts, word)
			}
		}
	}
	return parts
}

// Bytes returns text without the secrets. Where the escape sequences of a
// terminal would hide one, the text loses them all.
func (m Masker) Bytes(text []byte) []byte {
	text = m.replace(text)
	if len(m.forms) == 0 || bytes.IndexByte(text, '\x1b') < 0 {
		return text
	}
	bare := plain.WithoutEscapes(text)
	if masked := m.replace(bare); !bytes.Equal(masked, bare) {
		return masked
	}
	return text
}

func (m Masker) replace(text []byte) []byte {
	for _, form := range m.forms {
		text = bytes.ReplaceAll(text, form.text, []byte(mask))
	}
	return text
}

// String returns text without the secrets.
func (m Masker) String(text string) string { return string(m.Bytes([]byte(text))) }

// Tail is Bytes for a text whose beginning may have been cut off: the end of a
// secret that it begins with is replaced as well.
func (m Masker) Tail(text []byte) []byte {
	const least = minSecret / 2
	for _, form := range m.forms {
		for from := 1; from+least <= len(form.text); from++ {
			if end := form.text[from:]; bytes.HasPrefix(text, end) {
				return m.Bytes(append([]byte(mask), text[len(end):]...))
			}
		}
	}
	return m.Bytes(text)
}

// OneLine is plain.Short without the secrets, also those that an escape
// sequence was in the midst of, or that the limit would have cut.
func (m Masker) OneLine(text string, limit int) string {
	text = m.String(text[:min(len(text), 2*maxWords)])
	return plain.Short(m.String(plain.Line(text[:min(len(text), maxWords)])), limit)
}

// Leaks reports whether a text has one of the secrets. Values of less than 16
// bytes are not looked for.
func (m Masker) Leaks(text []byte) bool { return m.LeaksMore(text, nil) }

// LeaksMore reports whether a text has one of the secrets that the text before has not.
func (m Masker) LeaksMore(text, before []byte) bool {
	return slices.ContainsFunc(m.forms, func(f form) bool {
		return f.leaks && bytes.Contains(text, f.text) && !bytes.Contains(before, f.text)
	})
}

// With returns a Masker for the secrets of both. A secret that contains another comes first.
func (m Masker) With(more Masker) Masker {
	forms := slices.Concat(m.forms, more.forms)
	slices.SortStableFunc(forms, func(a, b form) int { return len(b.text) - len(a.text) })
	return Masker{forms}
}

// Result returns how a command ended without the secrets in what is kept of its
// output.
func (m Masker) Result(result Result) Result {
	for _, stream := range []struct {
		text *[]byte
		cut  bool
	}{{&result.Stdout, result.StdoutTruncated}, {&result.Stderr, result.StderrTruncated}} {
		if stream.cut {
			*stream.text = m.Tail(*stream.text)
		} else {
			*stream.text = m.Bytes(*stream.text)
		}
	}
	return result
}

// formsOf are the ways in which a secret is written, each once: as it is, in an
// address, in a JSON text, in hexadecimal digits, and in Base64.
func formsOf(secret string) []string {
	digits := hex.EncodeToString([]byte(secret))
	forms := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), digits, strings.ToUpper(digits)}
	for _, escaped := range []bool{true, false} {
		forms = append(forms, inJSON(secret, escaped))
	}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			forms = append(forms, inBase64(encoding, secret, before))
		}
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

// inJSON is a secret as a JSON text has it, with what HTML would read escaped or
// not.
func inJSON(secret string, escaped bool) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(escaped)
	if encoder.Encode(secret) != nil {
		return secret
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text.String()), `"`), `"`)
}

// inBase64 are the characters that a secret has in Base64 whatever is around it,
// when the number of bytes before it leaves that remainder by three.
func inBase64(encoding *base64.Encoding, secret string, before int) string {
	text := encoding.EncodeToString([]byte("\x00\x00"[:before] + secret))
	const bits, perByte = 6, 8
	return text[(before*perByte+bits-1)/bits : (before+len(secret))*perByte/bits]
}
