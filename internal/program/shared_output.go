package program

import "strings"

// ResultVariable names the file in which an evaluation script may give its
// result, in the shell that runs the script and in nothing that it starts.
const ResultVariable = "AUTOLOOP_RESULT"

// SharedOutput says that code under test can print the result, since the script
// does; "" when the script gives it in a file.
func (p *Program) SharedOutput() string {
	if p.Script == "" || p.Evaluation != Metric || strings.Contains(p.Script, ResultVariable) {
		return ""
	}
	return "the evaluation's result is what is printed last, and code under test may share that output and print another: give it as a file, with `> \"$" + ResultVariable + "\"` after the command that prints it"
}
