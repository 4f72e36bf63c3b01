//go:build !unix

package sandbox

// nonBlocking is not needed where files cannot be replaced by pipes.
const nonBlocking = 0
