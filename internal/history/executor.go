package history

import (
	"reflect"
	"strings"
)

// Executor is who worked on the cases of a measurement, and who graded them.
type Executor struct {
	// Agent is who worked, by the name that `iterate doctor` has.
	Agent string `json:"agent" changed:"the executor"`
	// Version is what its program says of itself.
	Version string `json:"version,omitempty" changed:"its version"`
	// Model is the model that was asked for.
	Model string `json:"model,omitempty" changed:"the model"`
	// Command is that of the agent `command`.
	Command string `json:"command,omitempty" changed:"its command"`
	// CommandSHA256 is over the files that the command names.
	CommandSHA256 string `json:"command_sha256,omitempty" changed:"what its command names"`
	// Judge is who graded.
	Judge string `json:"judge,omitempty" changed:"the judge"`
	// JudgeVersion is what the program that graded says of itself.
	JudgeVersion string `json:"judge_version,omitempty"`
	// Server has the commands of the server that the cases ask, in a skill's
	// workspace.
	Server string `json:"server,omitempty" changed:"the server's commands"`
}

// Changed says what differs from one executor to another, "" when nothing does.
// Nil is of a record that an earlier version of this program left, which did not
// have it: the next run records its own. One without an agent is unknown.
func (e *Executor) Changed(now *Executor) string {
	switch {
	case e == nil || now == nil:
		return ""
	case e.Agent == "":
		return "who executed before is not known"
	}
	var parts []string
	was, is := reflect.ValueOf(*e), reflect.ValueOf(*now)
	for i := range was.NumField() {
		name, compared := was.Type().Field(i).Tag.Lookup("changed")
		if compared && was.Field(i).String() != is.Field(i).String() {
			parts = append(parts, name)
		}
	}
	if e.Judge == now.Judge && e.JudgeVersion != "" && now.JudgeVersion != "" && e.JudgeVersion != now.JudgeVersion {
		parts = append(parts, "the judge's version")
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + " changed"
}
