package page

import "github.com/org/autoloop/internal/plain"

// clip bounds a text of unknown origin to n runes; html/template takes care of
// markup.
func clip(text string, n int) string { return plain.Clip(plain.Text(text), n) }
