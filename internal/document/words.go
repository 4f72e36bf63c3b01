package document

import (
	"bytes"
)

// FiniteWords replaces the NaN and Infinity that some writers print by a
// number out of range, so that they are told from text that is no JSON.
func FiniteWords(data []byte) []byte {
	if !bytes.Contains(data, []byte("NaN")) && !bytes.Contains(data, []byte("Infinity")) {
		return data
	}
	var out bytes.Buffer
	quoted := false
	for i := 0; i < len(data); i++ {
		switch {
		case data[i] == '"':
			quoted = !quoted
		case quoted && data[i] == '\\' && i+1 < len(data):
			out.WriteByte(data[i])
			i++
		case !quoted:
			if word := wordAt(data[i:]); word != "" {
				out.WriteString("1e999")
				i += len(word) - 1
				continue
			}
		}
		out.WriteByte(data[i])
	}
	return out.Bytes()
}

// wordAt returns the word for a number that is not finite, if data begins
// with one.
func wordAt(data []byte) string {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(data, []byte(word)) {
			return word
		}
	}
	return ""
}
