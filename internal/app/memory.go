package app

import "runtime/debug"

// BoundMemory trades memory for speed within a bound: a command that reads
// thousands of small files and ends collects garbage rarely, until it holds
// 150 MiB.
func BoundMemory() {
	const limit, percent = 150 << 20, 400
	debug.SetMemoryLimit(limit)
	debug.SetGCPercent(percent)
}
