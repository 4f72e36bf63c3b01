// Package score is the arithmetic of task suites: the composite score of a task,
// and the comparison of a candidate's outcome with its baseline's. It does no
// I/O.
package score
