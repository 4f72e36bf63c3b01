// Package evalrun runs suites. Of a skill's, it places the skill where an agent looks for it, lets
// the agent work on each case in a sandbox of its own, and grades what came of it by checks and by
// a judge; of tasks, see Report.
package evalrun

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/suite"
)

// SkillFile is what makes a directory a skill.
const SkillFile = "SKILL.md"

// maxSkillFile and maxSuiteFile bound what is read.
const maxSkillFile, maxSuiteFile = 1 << 20, 16 << 20

// Skill is a skill's directory with its suites, all of them in order.
type Skill struct {
	// Dir is the skill's directory, Name what its SKILL.md says, else the
	// directory's own name.
	Dir, Name string
	// Inputs is the directory that the files of cases are read from; "" is Dir.
	Inputs string
	// Cases are at least one; Triggers and Answers are nil when the skill
	// has no such file.
	Cases, Triggers, Answers []suite.Case

	// asked says that the suite is the questions: there is no eval file.
	asked bool
	// bare says that there is no SKILL.md: the cases ask a server.
	bare bool
	// own is the eval file's path from the skill's directory; it may lead out.
	own string
}

// Graded reports whether a grader gives a part of the verdicts.
func (s *Skill) Graded() bool {
	return slices.ContainsFunc(s.Cases, func(c suite.Case) bool { return len(c.Expectations) > 0 })
}

// hidden reports whether a path of the skill is hidden from the executor:
// business: all that belongs to its suites.
func (s *Skill) hidden(name string) bool {
	return name == s.own || name == suite.EvalsDir || strings.HasPrefix(name, suite.EvalsDir+"/")
}

// loading collects the faults of all files.
type loading struct {
	root   *os.Root
	at     string // the skill's path from the root
	skill  *Skill
	faults []error
}

// Load reads the skill in a directory below root and every suite that it has.
// skill and file are clean paths from root with slashes; file may be "" for
// the skill's own evals/evals.json. All that is wrong is one *misuse.Error.
func Load(root, skill, file string) (*Skill, error) {
	top, err := os.OpenRoot(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, misuse.Errorf("there is no directory %s", root)
	}
	if err != nil {
		return nil, misuse.New(fmt.Errorf("open the skill: %w", err))
	}
	defer top.Close()
	dir := filepath.Join(root, skill)
	own := path.Join(skill, suite.EvalFile)
	file = cmp.Or(file, own)
	l := &loading{root: top, at: skill, skill: &Skill{Dir: dir, Name: filepath.Base(dir)}}
	if below, err := filepath.Rel(skill, file); err == nil {
		l.skill.own = filepath.ToSlash(below)
	}
	l.name()
	questions := l.has(suite.AnswerFile) && file == own
	given := l.read(file, !questions, &l.skill.Cases, func(name string, data []byte) ([]suite.Case, error) {
		return suite.ParseEvals(name, data, l.isFile)
	})
	l.read(path.Join(skill, suite.TriggerFile), false, &l.skill.Triggers, suite.ParseTriggers)
	l.read(path.Join(skill, suite.AnswerFile), false, &l.skill.Answers, suite.ParseAnswers)
	if questions && !given {
		l.skill.asked, l.skill.Cases = true, l.skill.Answers
	}
	return l.skill, misuse.New(errors.Join(l.faults...))
}

// read hands a file to its parser, and reports whether it is there. Only a required
// one must be.
func (l *loading) read(name string, required bool, to *[]suite.Case,
	parse func(file string, data []byte) ([]suite.Case, error),
) (there bool) {
	data, err := files.ReadRegular(l.root, name, maxSuiteFile)
	if errors.Is(err, fs.ErrNotExist) {
		if !required {
			return false
		}
		err = errors.New("there is no such file in the skill; write the cases that it is graded by")
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	} else {
		*to, err = parse(name, data)
	}
	l.faults = append(l.faults, err)
	return true
}

var nameLine = lazyregexp.New(`(?m)^name:[ \t]*["']?([A-Za-z0-9][A-Za-z0-9._-]{0,99})["']?[ \t]*\r?$`)

// name reads the skill's own name from the frontmatter of its SKILL.md.
func (l *loading) name() {
	data, err := files.ReadRegular(l.root, path.Join(l.at, SkillFile), maxSkillFile)
	if errors.Is(err, fs.ErrNotExist) && l.has(suite.AnswerFile) && !l.has(suite.EvalFile) {
		l.skill.bare = true // a server with questions
		return
	}
	if err != nil {
		l.faults = append(l.faults, fmt.Errorf("%s: %w; a skill is a directory with this file",
			path.Join(l.at, SkillFile), files.Cause(err)))
	}
	l.skill.Name = skillName(string(data), l.skill.Name)
}

func (l *loading) has(name string) bool {
	_, err := l.root.Lstat(filepath.Join(l.at, name))
	return err == nil
}

// skillName is the name in the frontmatter, else otherwise.
func skillName(text, otherwise string) string {
	rest, found := strings.CutPrefix(strings.TrimPrefix(text, "\ufeff"), "---")
	head, _, closed := strings.Cut(rest, "\n---")
	match := nameLine().FindStringSubmatch(head)
	if !found || !closed || match == nil || strings.Contains(match[1], "..") {
		return otherwise
	}
	return match[1]
}

// isFile reports whether a path of the skill is a regular file that is reached
// through no link: what a link leads to is not copied into a sandbox. An eval file of
// another name is no input of its own cases.
func (l *loading) isFile(name string) bool {
	name = path.Clean(name)
	info, err := files.Unlinked(l.skill.Dir, name)
	return err == nil && info.Mode().IsRegular() && (name != l.skill.own || name == suite.EvalFile)
}
