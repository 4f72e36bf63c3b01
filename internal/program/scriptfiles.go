package program

import (
	"path"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

const (
	maxScriptDirs  = 64
	maxScriptWords = 20_000
)

var scriptWord = lazyregexp.New("[^\\s;|&<>(){}\"'`$=,:]+")

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

// ScriptFiles returns the files that the evaluation script names, or the command
// that works on a suite, as written or relative to a directory that it changes
// into. tracked says which paths
// are regular files of the repository. Each is listed once, in the order of
// the script.
func (p *Program) ScriptFiles(tracked func(path string) bool) []string {
	words := scriptWords(p.Script + "\n" + p.WorkerCommand())
	dirs := scriptDirs(words)
	var found []string
	seen := map[string]bool{}
	for _, word := range words {
		for _, dir := range dirs {
			file := path.Join(dir, word)
			if seen[file] {
				continue
			}
			seen[file] = true
			if tracked(file) {
				found = append(found, file)
			}
		}
	}
	return found
}

// evaluators are the files that the evaluation runs with a shell, or by their
// path: what gives the number.
func (p *Program) evaluators() []string {
	words := scriptWords(p.Script)
	var found []string
	for i, word := range words {
		run := strings.HasPrefix(word, "./")
		if i > 0 {
			switch path.Base(words[i-1]) {
			case "sh", "bash", "dash", "zsh", "ksh", "source", ".":
				run = true
			}
		}
		if !run {
			continue
		}
		for _, dir := range scriptDirs(words) {
			found = append(found, path.Join(dir, word))
		}
	}
	return found
}

// scriptWords are the words that may name files. What follows a variable, as
// in $ROOT/eval.sh and $(pwd)/eval.sh, counts without it.
func scriptWords(script string) []string {
	var words []string
	for _, at := range scriptWord().FindAllStringIndex(script, maxScriptWords) {
		word := script[at[0]:at[1]]
		if at[0] > 0 && script[at[0]-1] == '$' {
			_, word, _ = strings.Cut(word, "/")
		}
		if word = strings.TrimLeft(word, "/"); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// scriptDirs are the directories that the script may be in: the root, and
// those of its `cd`, `pushd` and `-C`, also one after the other.
func scriptDirs(words []string) []string {
	dirs := []string{""}
	known := map[string]bool{"": true}
	for i := 1; i < len(words) && len(dirs) < maxScriptDirs; i++ {
		switch words[i-1] {
		case "cd", "pushd", "-C":
		default:
			continue
		}
		for _, dir := range dirs {
			if joined := path.Join(dir, words[i]); !known[joined] && !strings.HasPrefix(joined, "..") {
				known[joined] = true
				dirs = append(dirs, joined)
			}
		}
	}
	return dirs
}
