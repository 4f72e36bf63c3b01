package program

import (
	"path"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

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
