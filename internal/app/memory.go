package app

import "runtime/debug"

// Bounds of the memory that a command holds before it collects garbage eagerly:
// that which selects a program has little in it at a time, a table of all programs
// more, and others read whole files.
const (
	Lean   = 48 << 20
	Tables = 64 << 20
	Ample  = 150 << 20
)

// perProgram is what each of thousands of programs is worth of such a bound: below what
// they need, garbage would be collected all the time.
const perProgram = 10 << 10

// BoundMemory is BoundMemory where this process is the command's alone.
func (e Env) BoundMemory(bound int64) {
	if e.OwnProcess {
		BoundMemory(bound)
	}
}

// BoundMemory trades memory for speed within a bound: a command that reads
// thousands of small files and ends collects garbage rarely, until it is reached.
func BoundMemory(bound int64) {
	percent := 400
	if bound >= Ample { // it may go on for hours
		percent = 200
	}
	debug.SetMemoryLimit(bound)
	debug.SetGCPercent(percent)
}
