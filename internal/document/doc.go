// Package document reads JSON files that people write: a tree of values that
// keeps the line of each, a reader that collects everything that is wrong with a
// file, and the problems with file, line and key. It does no I/O.
package document
