// Package suite is the arithmetic of task suites: tasks and what they came to
// as values, the composite score of one task, and the comparison of a candidate
// with its baseline. It does no I/O.
package suite
