//go:build !unix

package cli

import "os"

// whenUnread does nothing: a write to a pipe without a reader is an error here, and no signal.
func whenUnread(*os.File, func()) {}
