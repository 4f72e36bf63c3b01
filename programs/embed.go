// Package programs holds the example programs, so that a demonstration can
// write them out on a machine that has only the binary.
package programs

import "embed"

// FS has each example under its directory's name, with the paths that its
// program.md expects below a directory `programs`.
//
//go:embed function-minimization
var FS embed.FS
