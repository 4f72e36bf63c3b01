//go:build !linux

package process

// Conceal does nothing: this system has no such setting.
func Conceal() {}
