// Package evalrun runs the eval suite of a skill: it places the skill where an
// agent looks for it, lets the agent work on each case in a sandbox of its own,
// and grades what came of it by checks and by a judge.
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

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/suite/evals"
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
	// Evals has at least one case; Triggers and Answers are nil when the skill
	// has no such file.
	Evals    evals.EvalSuite
	Triggers []evals.Trigger
	Answers  []evals.Answer

	// asked says that the suite is the questions: there is no eval file.
	asked bool
	// bare says that there is no SKILL.md: the cases ask a server.
	bare bool
	// own is the eval file's path from the skill's directory; it may lead out.
	own string
}

// Graded reports whether a grader gives a part of the verdicts.
func (s *Skill) Graded() bool {
	return slices.ContainsFunc(s.Evals.Cases, func(c evals.Case) bool { return len(c.Expectations) > 0 })
}

// hidden reports whether a path of the skill is hidden from the executor:
// business: all that belongs to its suites.
func (s *Skill) hidden(name string) bool {
	return name == s.own || name == evals.Dir || strings.HasPrefix(name, evals.Dir+"/")
}

// Load reads the skill in a directory below root and every suite that it has.
// skill and suite are clean paths from root with slashes; suite may be "" for
// the skill's own evals/evals.json. All that is wrong is one *misuse.Error.
func Load(root, skill, suite string) (*Skill, error) {
	top, err := os.OpenRoot(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, misuse.Errorf("there is no directory %s%s", root, skillsIn(filepath.Dir(root)))
	}
	if err != nil {
		return nil, misuse.New(fmt.Errorf("open the skill: %w", err))
	}
	defer func() { _ = top.Close() }()
	own, err := top.OpenRoot(filepath.FromSlash(skill))
	if err != nil {
		return nil, misuse.New(fmt.Errorf("open the skill: %w", err))
	}
	defer func() { _ = own.Close() }()
	suite = cmp.Or(suite, path.Join(skill, evals.File))
	dir := filepath.Join(root, filepath.FromSlash(skill))
	l := &loading{root: own, at: skill, skill: &Skill{Dir: dir, Name: filepath.Base(dir)}}
	if below, err := filepath.Rel(filepath.FromSlash(skill), filepath.FromSlash(suite)); err == nil {
		l.skill.own = filepath.ToSlash(below)
	}
	l.all(top, suite)
	if err := errors.Join(l.faults...); err != nil {
		return nil, misuse.New(err)
	}
	return l.skill, nil
}

// all reads every file.
func (l *loading) all(top *os.Root, suite string) {
	l.name()
	questions := l.has(evals.AnswerFile) && suite == path.Join(l.at, evals.File)
	given := l.read(top, suite, !questions, func(data []byte) (problems document.Problems) {
		l.skill.Evals, problems = evals.Parse(suite, data, l.isFile)
		return problems
	})
	l.read(l.root, evals.TriggerFile, false, func(data []byte) (problems document.Problems) {
		l.skill.Triggers, problems = evals.ParseTriggers(evals.TriggerFile, data)
		return problems
	})
	l.read(l.root, evals.AnswerFile, false, func(data []byte) (problems document.Problems) {
		l.skill.Answers, problems = evals.ParseAnswers(evals.AnswerFile, data)
		return problems
	})
	if questions && !given {
		l.skill.asked, l.skill.Evals = true, evals.Questions(l.skill.Name, l.skill.Answers)
	}
}

// loading collects the faults of all files.
type loading struct {
	root   *os.Root
	at     string // the skill's path from the top
	skill  *Skill
	faults []error
}

// read hands a file to its parser, and reports whether it is there. Only a required
// one must be.
func (l *loading) read(root *os.Root, name string, required bool, parse func([]byte) document.Problems) (there bool) {
	data, err := readFile(root, name, maxSuiteFile)
	if errors.Is(err, fs.ErrNotExist) && !required {
		return false
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("there is no such file in the skill; write the cases that it is graded by")
	}
	if err != nil {
		l.faults = append(l.faults, fmt.Errorf("%s: %w", name, err))
		return true
	}
	if err := parse(data).Err(); err != nil {
		l.faults = append(l.faults, err)
	}
	return true
}

var nameLine = lazyregexp.New(`(?m)^name:[ \t]*["']?([A-Za-z0-9][A-Za-z0-9._-]{0,99})["']?[ \t]*\r?$`)

// name reads the skill's own name from the frontmatter of its SKILL.md.
func (l *loading) name() {
	data, err := readFile(l.root, SkillFile, maxSkillFile)
	if errors.Is(err, fs.ErrNotExist) && l.has(evals.AnswerFile) && !l.has(evals.File) {
		l.skill.bare = true // a server with questions
		return
	}
	if err != nil {
		l.faults = append(l.faults, fmt.Errorf("%s: %w; a skill is a directory with this file%s", SkillFile,
			files.Cause(err), skillsIn(l.skill.Dir)))
		return
	}
	l.skill.Name = skillName(string(data), l.skill.Name)
}

func (l *loading) has(name string) bool {
	_, err := l.root.Lstat(filepath.FromSlash(name))
	return err == nil
}

// skillsIn says which directories in dir are skills, or "".
func skillsIn(dir string) string {
	found, _ := fs.Glob(os.DirFS(dir), "*/"+SkillFile) // The pattern is well formed.
	if len(found) == 0 {
		return ""
	}
	const most = 8
	var names []string
	for _, file := range found[:min(len(found), most)] {
		names = append(names, path.Dir(file))
	}
	return fmt.Sprintf("; skills in %s: %s", dir, strings.Join(names, ", "))
}

// skillName is the name in the frontmatter, else otherwise.
func skillName(text, otherwise string) string {
	rest, found := strings.CutPrefix(strings.TrimPrefix(text, "\ufeff"), "---")
	if !found {
		return otherwise
	}
	head, _, closed := strings.Cut(rest, "\n---")
	match := nameLine().FindStringSubmatch(head)
	if !closed || match == nil || strings.Contains(match[1], "..") {
		return otherwise
	}
	return match[1]
}

// isFile reports whether a path of the skill is a regular file that is reached
// through no link: what a link leads to is not copied into a sandbox. An eval file of
// another name is no input of its own cases.
func (l *loading) isFile(name string) bool {
	name = path.Clean(name)
	if name == l.skill.own && l.skill.own != evals.File {
		return false
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := l.root.Lstat(filepath.FromSlash(dir)); err != nil || !info.IsDir() {
			return false
		}
	}
	info, err := l.root.Lstat(filepath.FromSlash(name))
	return err == nil && info.Mode().IsRegular()
}

// readFile reads at most that many bytes of a regular file: the parsers take less, and say
// what is too much.
func readFile(root *os.Root, name string, most int64) ([]byte, error) {
	if info, err := root.Lstat(filepath.FromSlash(name)); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	return files.ReadRegular(root, name, most)
}
