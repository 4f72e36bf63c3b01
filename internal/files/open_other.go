//go:build !unix

package files

// NonBlocking is not needed where files cannot be replaced by pipes.
const NonBlocking = 0
