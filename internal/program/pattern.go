package program

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/metric"
)

// Pattern is one path or glob. It matches whole paths from the repository's
// root; a trailing slash means the whole directory.
type Pattern struct {
	Text string
	// Line is where it stands in the file.
	Line int
	// Bare is a text in backticks that may be prose: it has no `/`, `.` or `*`,
	// or looks like something else than a path. It means the file of exactly
	// that name, when there is one.
	Bare bool
	// Loose is a word that is not in backticks and looks like a path. It may be
	// prose when it names nothing.
	Loose bool
	// Anywhere is a protected name without a slash: it is protected at any depth.
	Anywhere bool
	// Named is a target of the frontmatter, or one that a list item begins with.
	Named bool
	// Firm is a protection of what grades a skill, a path without wildcards: no target opens it.
	Firm bool
}

// Texts are the patterns as they are written.
func Texts(patterns []Pattern) []string {
	return lists.Map(patterns, func(pattern Pattern) string { return pattern.Text })
}

const globMarks = "*?[{"

// newPattern reads one pattern; the error says why it is invalid.
func newPattern(text string, line int) (Pattern, error) {
	text = strings.TrimSpace(text)
	if doubtful(text) {
		return Pattern{Text: text, Line: line, Bare: true}, nil
	}
	clean, err := cleanPattern(text)
	return Pattern{Text: clean, Line: line}, err
}

// newProtection reads a pattern that may not change. A bare name means every
// file and directory of that name.
func newProtection(text string, line int) (Pattern, error) {
	pattern, err := newPattern(text, line)
	pattern.Anywhere = err == nil && pattern.Text != "" && !strings.ContainsAny(pattern.Text, "/ "+globMarks)
	return pattern, err
}

// proseForm is in code, links and options, and in no path that anybody means.
var proseForm = lazyregexp.New(`[ \t\n<>|=;$"']|\(\)|://|^-`)

// doubtful reports whether a text in backticks may well be prose.
func doubtful(text string) bool {
	if !strings.ContainsAny(text, "/.*?[{") || strings.Trim(text, "./") == "" && text != "./" {
		return true
	}
	if proseForm().MatchString(text) {
		return true
	}
	_, err := metric.ParseValue(strings.TrimSuffix(text, "%"))
	return err == nil
}

func cleanPattern(text string) (string, error) {
	const accepted = "give a path or glob from the repository's root with forward slashes, such as `src/*.go`"
	if strings.HasPrefix(text, "~") || strings.HasPrefix(text, "!") || strings.Contains(text, `\`) {
		return "", fmt.Errorf("%q is no pattern; %s", clip(text), accepted)
	}
	if leaves(text) {
		return "", fmt.Errorf("%q leaves the repository; %s", clip(text), accepted)
	}
	clean := strings.TrimPrefix(path.Clean(text), "/")
	switch {
	case clean == "." || clean == "":
		clean = "**"
	case strings.HasSuffix(text, "/"):
		clean += "/"
	}
	if !doublestar.ValidatePattern(clean) {
		return "", fmt.Errorf("%q is no valid glob; %s", clip(text), accepted)
	}
	return clean, nil
}

// cleanPath reads a path from the repository's root, without wildcards.
func cleanPath(text string) (string, error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") || strings.Contains(text, `\`) || leaves(text) {
		return "", fmt.Errorf("%q is no path within the repository; give one from its root with forward slashes",
			clip(text))
	}
	return path.Clean(text), nil
}

func leaves(text string) bool { return slices.Contains(strings.Split(text, "/"), "..") }

// literal reports whether the pattern names one path without a wildcard.
func (p Pattern) literal() bool {
	return p.Bare || !strings.HasSuffix(p.Text, "/") && (p.Firm || !strings.ContainsAny(p.Text, globMarks))
}

// Match reports whether the pattern matches the path of a file.
func (p Pattern) Match(path string) bool {
	switch {
	case p.Anywhere:
		return p.Text == path || strings.HasPrefix(path, p.Text+"/") || strings.HasSuffix(path, "/"+p.Text) ||
			strings.Contains(path, "/"+p.Text+"/")
	case p.literal():
		return p.Text == path
	case !strings.HasSuffix(p.Text, "/"):
		return doublestar.MatchUnvalidated(p.Text, path)
	case !p.Firm && strings.ContainsAny(p.Text, globMarks):
		return doublestar.MatchUnvalidated(p.Text+"**/*", path)
	default:
		return strings.HasPrefix(path, p.Text)
	}
}

// Targeted reports whether a target pattern matches, protected or not.
func (p *Program) Targeted(path string) bool { return anyMatch(p.Targets, path) }

// Protects reports whether the program protects the path. What is exact wins
// over what is general: a file that the target names is opened by no wildcard's
// or directory's protection.
func (p *Program) Protects(path string) bool {
	open := slices.ContainsFunc(p.Targets, func(p Pattern) bool { return p.literal() && p.Text == path })
	return slices.ContainsFunc(p.Protected, func(p Pattern) bool {
		return p.Match(path) && (!open || p.Firm || p.literal() && (!p.Anywhere || p.Text == path))
	})
}

// Allows reports whether the path may change as far as the program says.
func (p *Program) Allows(path string) bool { return p.Targeted(path) && !p.Protects(path) }

// NamesExactly reports whether the frontmatter's target names the path, or a list item
// that begins with it. Only that opens the automation of the repository, the
// program, and the files that its evaluation names.
func (p *Program) NamesExactly(path string) bool {
	return slices.ContainsFunc(p.Targets, func(p Pattern) bool { return p.Named && p.literal() && p.Text == path })
}

func anyMatch(patterns []Pattern, path string) bool {
	return slices.ContainsFunc(patterns, func(p Pattern) bool { return p.Match(path) })
}

// Resolve settles which words are files, given the sorted paths of all files:
// those that name none were prose, and go to Prose.
func (p *Program) Resolve(files []string) {
	keep := func(patterns []Pattern) []Pattern {
		var kept []Pattern
		for _, pattern := range patterns {
			if pattern.isProse(files) {
				p.Prose = append(p.Prose, pattern)
				continue
			}
			pattern.Bare, pattern.Loose = false, false
			kept = append(kept, pattern)
		}
		return kept
	}
	p.Targets, p.Protected = keep(p.Targets), keep(p.Protected)
}

var extension = lazyregexp.New(`\.[A-Za-z0-9]{1,8}$`)

// isProse reports whether a word that may be prose names none of the files.
func (p Pattern) isProse(files []string) bool {
	path := strings.HasSuffix(p.Text, "/") || strings.ContainsAny(p.Text, globMarks) || extension().MatchString(p.Text)
	return (p.Bare || p.Loose && !path) && !slices.ContainsFunc(files, func(file string) bool {
		return p.Match(file) || p.Loose && strings.HasPrefix(file, p.Text+"/")
	})
}

var automation = lazyregexp.New(`(?i)^\.(?:autoloop|github)(?:/|$)`)

// Closed are the targets of a sentence that name a file of the repository's
// automation, the program, or what the evaluation names: it opens none of them.
func (p *Program) Closed() []Pattern {
	names := p.ScriptNames()
	return slices.DeleteFunc(slices.Clone(p.Targets), func(target Pattern) bool {
		standing := automation().MatchString(target.Text) || strings.EqualFold(target.Text, p.File) ||
			names(target.Text)
		return !target.literal() || !standing || p.NamesExactly(target.Text)
	})
}

// Elsewhere are the targets below a path that is no directory: a submodule, whose files
// are another repository's, or a link.
func (p *Program) Elsewhere(files []string) Problems {
	var found Problems
	for _, target := range p.Targets {
		literal, _, _ := strings.Cut(strings.TrimSuffix(target.Text, "/"), "*")
		for dir := path.Dir(literal); dir != "." && dir != "/"; dir = path.Dir(dir) {
			if _, isFile := slices.BinarySearch(files, dir); isFile {
				found = append(
					found,
					p.problem(Error, target.Line, "the target `%s` lies in `%s`, which is a submodule "+
						"or a link: run Autoloop in the repository that has the files", clip(target.Text), clip(dir)),
				)
			}
		}
	}
	return found
}

// wild are the marks of a glob, each with what it could stand for.
var wild = strings.NewReplacer("**", "x", "*", "x", "?", "x")

// NothingMayChange reports whether every target is protected, given the paths
// of all files. A glob and a directory may get another file.
func (p *Program) NothingMayChange(files []string) bool {
	closed := p.Closed()
	return len(p.Targets) > 0 && !slices.ContainsFunc(p.Targets, func(target Pattern) bool {
		name := target.Text
		if !target.literal() {
			name = wild.Replace(name)
		}
		if strings.HasSuffix(name, "/") {
			name += "x"
		}
		return p.Allows(name) && !slices.Contains(closed, target) || !target.literal() &&
			slices.ContainsFunc(files, func(file string) bool { return target.Match(file) && p.Allows(file) })
	})
}

const maxScriptWords = 20_000

var scriptWord = lazyregexp.New("(\\$?)([^\\s;|&<>(){}\"'`$=,:]+)")

// underSkill matches a file of the skill that is measured, which is not what measures.
var underSkill = lazyregexp.New("\\$\\{?AUTOLOOP_SKILL\\}?\"?/[^\\s;|&<>(){}\"'`]*")

// WorkerCommand is the command of the agent `command` where it works on the
// tasks or cases of a suite: the executor's, else the one that also proposes.
// It is "" for programs without a suite.
func (p *Program) WorkerCommand() string {
	switch {
	case p.Evaluation == Metric:
		return ""
	case p.ExecutorCommand == "" && p.Executor == "":
		return p.AgentCommand
	default:
		return p.ExecutorCommand
	}
}

// ScriptNames returns whether the evaluation names a path of the repository. A word of
// its script is the path, or the end of the path at a slash, as `run.sh` after
// `cd bench`; a word of the command that works on a suite, in directories of its own, is
// the whole path. Nothing guesses what is done with it.
func (p *Program) ScriptNames() func(name string) bool {
	ends, whole := pathWords(p.Script), pathWords(underSkill().ReplaceAllString(p.WorkerCommand(), ""))
	return func(name string) bool {
		named := whole[name]
		for more := true; more && !named; _, name, more = strings.Cut(name, "/") {
			named = ends[name]
		}
		return named
	}
}

// pathWords are the words of a script that may be paths.
func pathWords(script string) map[string]bool {
	words := map[string]bool{}
	for _, found := range scriptWord().FindAllStringSubmatch(script, maxScriptWords) {
		word := found[2]
		if found[1] != "" { // $ROOT/eval.sh
			_, word, _ = strings.Cut(word, "/")
		}
		for word = strings.TrimLeft(path.Clean(word), "/"); strings.HasPrefix(word, "../"); {
			word = word[len("../"):]
		}
		words[word] = true
	}
	return words
}

// ScriptFiles returns those of the files that the script names. No candidate may change
// them unless the target names them exactly.
func (p *Program) ScriptFiles(files []string) []string {
	names := p.ScriptNames()
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool { return !names(file) })
}

// maxUndecided bounds the files of one message.
const maxUndecided = 8

// Undecided is the problem of files that the evaluation names and that a glob or a
// directory of the target matches, with the two lines of which one decides; nil without
// one.
func (p *Program) Undecided(files []string) Problems {
	if p.Evaluation != Metric {
		return nil
	}
	var named []string
	line := 0
	for _, file := range p.ScriptFiles(files) {
		at := slices.IndexFunc(p.Targets, func(target Pattern) bool { return !target.literal() && target.Match(file) })
		if at >= 0 && p.Allows(file) && !p.NamesExactly(file) && len(named) < maxUndecided {
			line, named = p.Targets[at].Line, append(named, file)
		}
	}
	if len(named) == 0 {
		return nil
	}
	all, list := slices.Concat(Texts(p.Targets), named), strings.Join(named, ", ")
	return Problems{p.problem(Error, line, "the evaluation names %s, which the target matches; add one line to the "+
		"frontmatter: `target: [%s]` if it may change, `protect: [%s]` if it may not",
		clip(list), strings.Join(all, ", "), list)}
}

// Misses returns those of the paths that an iteration of the program would look
// at: files that may change, and what the evaluation names, directories too.
// The program's own file is read as it stands, and is not among them.
func (p *Program) Misses(paths []string) []string {
	names := p.ScriptNames()
	return slices.DeleteFunc(slices.Clone(paths), func(file string) bool {
		return file == p.File || !p.Allows(file) && !slices.ContainsFunc(within(file), names)
	})
}

// within are a path and the directories that it lies in.
func within(file string) []string {
	var list []string
	for ; file != "." && file != "/"; file = path.Dir(file) {
		list = append(list, file)
	}
	return list
}

// ResultVariable names the file in which an evaluation script may give its
// result, in the shell that runs the script and in nothing that it starts.
const ResultVariable = "AUTOLOOP_RESULT"

// SharedOutput says that code under test can print the result, since the script
// does; "" when the script gives it in a file.
func (p *Program) SharedOutput() string {
	if p.Script == "" || p.Evaluation != Metric || strings.Contains(p.Script, ResultVariable) {
		return ""
	}
	return "the evaluation's result is what is printed last, and code under test may share that output and print " +
		"another: give it as a file, with `> \"$" + ResultVariable + "\"` after the command that prints it"
}
