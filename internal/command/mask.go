package command

import (
	"bytes"
	"sort"
	"strings"
)

// mask stands where a secret was.
const mask = "***"

// minSecret is the length of the shortest value that is masked; shorter ones
// would hide ordinary words.
const minSecret = 8

// Masker replaces secret values in texts. The zero Masker replaces nothing.
type Masker struct{ secrets [][]byte }

// NewMasker returns a Masker for the values of env (NAME=value) whose names say
// that they are secret, and for more values.
func NewMasker(env []string, more ...string) Masker {
	var m Masker
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		if secretName(name) {
			more = append(more, value)
		}
	}
	for _, value := range more {
		if len(value) >= minSecret {
			m.secrets = append(m.secrets, []byte(value))
		}
	}
	// A secret that contains another goes first.
	sort.Slice(m.secrets, func(i, j int) bool { return len(m.secrets[i]) > len(m.secrets[j]) })
	return m
}

func secretName(name string) bool {
	upper := strings.ToUpper(name)
	for _, word := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "PRIVATE_KEY", "ACCESS_KEY", "CREDENTIAL"} {
		if strings.Contains(upper, word) {
			return true
		}
	}
	return strings.HasSuffix(upper, "_KEY")
}

// Bytes returns text without the secrets.
func (m Masker) Bytes(text []byte) []byte {
	for _, secret := range m.secrets {
		text = bytes.ReplaceAll(text, secret, []byte(mask))
	}
	return text
}

// String returns text without the secrets.
func (m Masker) String(text string) string { return string(m.Bytes([]byte(text))) }
