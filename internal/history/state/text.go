package state

import "strings"

// escapeCell makes text fit into a cell; unescapeCell reads it back exactly.
func escapeCell(text string) string {
	return strings.NewReplacer(`\`, `\\`, `|`, `\|`).Replace(text)
}

func unescapeCell(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	var out strings.Builder
	for at := 0; at < len(text); at++ {
		if text[at] == '\\' && at+1 < len(text) && (text[at+1] == '|' || text[at+1] == '\\') {
			at++
		}
		out.WriteByte(text[at])
	}
	return out.String()
}
