// Package format has the two files of a task suite as values: task.json, and the
// outcome of one configuration. It does no I/O.
package format
