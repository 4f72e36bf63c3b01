package agent

// Project is how an agent works with the directory of a project.
type Project struct {
	// Skills is the directory in which it looks for skills.
	Skills  string
	Printed Printed
}

// Printed is what an agent prints, and so what its transcript holds.
type Printed int

// The forms of a transcript.
const (
	Words    Printed = iota // what it has to say to a person
	Events                  // its whole conversation, an event a line
	Markdown                // its whole conversation as markdown
)

// defaultSkills is where an agent is sent to look for skills that has no place of
// its own.
const defaultSkills = ".claude/skills"

// ProjectOf says how an agent works with the directory of a project. An agent
// that does not say so itself is told where the skills are, and its transcript
// is what it printed.
func ProjectOf(a Agent) Project {
	if describing, ok := a.(interface{ Project() Project }); ok {
		return describing.Project()
	}
	return Project{Skills: defaultSkills}
}
