package history

// Focuses are the failing tests that the attempts under a definition worked on, "" for
// one without, in their order. Nothing is known until an attempt had a test to work on.
func (b *Summary) Focuses(definition string) []string {
	var list []string
	known := false
	for i := range b.Attempts {
		a := &b.Attempts[i]
		if known = known || a.Focus != ""; known && a.Definition == definition {
			list = append(list, a.Focus)
		}
	}
	return list
}
