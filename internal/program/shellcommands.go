package program

import (
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// shellCommand is one simple command of a script: its words without quotes.
type shellCommand []string

const maxShellCommands = 4_000

var (
	assignment = lazyregexp.New(`^[A-Za-z_]\w*\+?=`)
	number     = lazyregexp.New(`^\d+(?:\.\d+)?[smhd]?$`)
	heredoc    = lazyregexp.New(`<<-?\s*\\?['"]?(\w+)['"]?`)
	loopForm   = lazyregexp.New(`^for$`)
	variable   = lazyregexp.New(`^\$\{?([A-Za-z_]\w*)\}?$`)
	prefixed   = lazyregexp.New(`^(?:\$\{?\w+\}?|\$\(pwd\)|` + "`pwd`" + `)/`)
)

// shellCommands are the simple commands of a script in their order, as far as they
// can be told without running it: variables that are set to words, also by a loop,
// stand for these, and what `sh -c` is given counts too.
func shellCommands(script string) []shellCommand {
	r := shellReader{variables: map[string][]string{}}
	r.read(script, 0)
	return r.commands
}

type shellReader struct {
	commands  []shellCommand
	current   shellCommand
	variables map[string][]string
}

// read takes a script in. Words end at blanks, commands at separators; what is
// within $( ) or backticks is a command of its own.
func (r *shellReader) read(script string, depth int) {
	if depth > 3 {
		return
	}
	script = withoutHeredocs(script)
	word, begun := strings.Builder{}, false
	end := func() {
		if begun {
			r.word(word.String(), depth)
		}
		word.Reset()
		begun = false
	}
	for i := 0; i < len(script) && len(r.commands) < maxShellCommands; i++ {
		switch c := script[i]; {
		case c == '\\' && i+1 < len(script):
			i++
			if script[i] != '\n' {
				word.WriteByte(script[i])
				begun = true
			}
		case c == '\'' || c == '"':
			quoted, after := unquote(script, i)
			word.WriteString(quoted)
			begun, i = true, after
		case c == '#' && !begun:
			for i+1 < len(script) && script[i+1] != '\n' {
				i++
			}
		case strings.HasPrefix(script[i:], "$(pwd)"):
			word.WriteString("$(pwd)")
			begun, i = true, i+len("$(pwd)")-1
		case c == '$' && i+1 < len(script) && script[i+1] == '(', c == '`', strings.IndexByte("\n;|&()", c) >= 0:
			end()
			r.finish()
		case strings.IndexByte(" \t<>", c) >= 0:
			end()
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	end()
	r.finish()
}

// unquote returns what is within the quotes that begin at a place, and where they end.
func unquote(script string, at int) (text string, end int) {
	quote := script[at]
	var out strings.Builder
	for i := at + 1; i < len(script); i++ {
		switch {
		case script[i] == quote:
			return out.String(), i
		case script[i] == '\\' && quote == '"' && i+1 < len(script):
			i++
			out.WriteByte(script[i])
		default:
			out.WriteByte(script[i])
		}
	}
	return out.String(), len(script)
}

// word adds a word to the command: the values of a variable instead of it.
func (r *shellReader) word(word string, depth int) {
	if inner := len(r.current); inner > 1 && r.current[inner-1] == "-c" && strings.ContainsAny(word, " \t\n") {
		outer := r.current
		r.current = nil
		r.read(word, depth+1)
		r.current = outer
		return
	}
	if name := variable().FindStringSubmatch(word); name != nil {
		if values, known := r.variables[name[1]]; known {
			r.current = append(r.current, values...)
			return
		}
	}
	r.current = append(r.current, prefixed().ReplaceAllString(word, ""))
}

// finish ends a command, and remembers what it sets variables to.
func (r *shellReader) finish() {
	command := r.current
	r.current = nil
	if len(command) == 0 {
		return
	}
	if loopForm().MatchString(command[0]) && len(command) > 3 {
		r.variables[command[1]] = command[3:]
		return
	}
	set := true
	for _, word := range command {
		name, value, _ := strings.Cut(word, "=")
		if !assignment().MatchString(word) || strings.ContainsAny(value, " $") {
			set = false
			break
		}
		r.variables[name] = []string{value}
	}
	if !set {
		r.commands = append(r.commands, command)
	}
}

// withoutHeredocs drops the texts that follow <<WORD.
func withoutHeredocs(script string) string {
	var out strings.Builder
	until := ""
	for line := range strings.Lines(script) {
		if until != "" {
			if strings.TrimSpace(line) == until {
				until = ""
			}
			continue
		}
		if found := heredoc().FindStringSubmatch(line); found != nil && !strings.Contains(line, "<<<") {
			until = found[1]
			line = strings.Replace(line, found[0], "", 1)
		}
		out.WriteString(line)
	}
	return out.String()
}
