// Package workflows has the files that a user's repository gets, as
// `iterate init` writes them.
package workflows

import _ "embed" // The files are part of the binary.

// Simple is the workflow with one job, Matrix the one with a job for each due
// program, and IssueTemplate the form of a program that is an issue.
var (
	//go:embed autoloop-simple.yml
	Simple string
	//go:embed autoloop.yml
	Matrix string
	//go:embed autoloop-program.md
	IssueTemplate string
)
