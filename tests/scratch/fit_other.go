//go:build !linux

package scratch

func fit() bool { return false }
