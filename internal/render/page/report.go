package page

import "io"

// maxEvidence bounds a text of a grader or a judge, in runes.
const maxEvidence = 600

// writeReport writes a page that needs no script.
func writeReport(w io.Writer, name string, data any) error {
	return execute(w, (&view{Site: &Site{}}).templates(), name, data)
}
