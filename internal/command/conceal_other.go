//go:build !linux

package command

// Conceal does nothing: this system has no such setting.
func Conceal() {}
