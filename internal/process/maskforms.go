package process

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

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
