//go:build !unix

package tree

// nonBlocking is not needed where files cannot be replaced by pipes.
const nonBlocking = 0
