package state

import "strings"

// escapeCell makes text fit into a cell; unescapeCell reads it back exactly.
func escapeCell(text string) string {
	return strings.NewReplacer(`\`, `\\`, `|`, `\|`).Replace(text)
}

var unescapes = strings.NewReplacer(`\\`, `\`, `\|`, `|`)

func unescapeCell(text []byte) string { return unescapes.Replace(string(text)) }
