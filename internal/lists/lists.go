// Package lists has what the standard library lacks for slices.
package lists

// Map is what of makes of each, in their order; it is never nil.
func Map[T, L any](list []T, of func(T) L) []L {
	made := make([]L, len(list))
	for i, one := range list {
		made[i] = of(one)
	}
	return made
}
