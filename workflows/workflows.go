// Package workflows has the files that a user's repository gets, as
// `iterate init` writes them.
package workflows

import _ "embed" // The files are part of the binary.

// Main finds what is due and calls Iterate, which has a pair of jobs, for each
// program; Simple has one job instead of both. Gate judges
// configurations of agents in pull requests. Validate checks programs that are
// issues, Page puts what was tried on GitHub Pages, and IssueTemplate is the form of such a program.
var (
	//go:embed autoloop.yml
	Main string
	//go:embed autoloop-iterate.yml
	Iterate string
	//go:embed autoloop-simple.yml
	Simple string
	//go:embed autoloop-gate.yml
	Gate string
	//go:embed autoloop-page.yml
	Page string
	//go:embed autoloop-validate.yml
	Validate string
	//go:embed autoloop-program.md
	IssueTemplate string
)
