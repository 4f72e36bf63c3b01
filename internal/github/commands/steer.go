// Package commands reads what trusted people say to a program in comments:
// `/autoloop` commands, and free text. It is pure.
package commands

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// CommandKind is what a command asks for.
type CommandKind string

// The commands.
const (
	Run        CommandKind = "run"
	Pause      CommandKind = "pause"
	Resume     CommandKind = "resume"
	Status     CommandKind = "status"
	SetTarget  CommandKind = "set target-metric"
	Undo       CommandKind = "undo"
	Reactivate CommandKind = "reactivate"
	// Instruct is free text behind the word: an instruction for one iteration.
	Instruct CommandKind = "instruction"
	// Note is an instruction that no comment keeps until the next iteration.
	Note CommandKind = "note"
	// Wrong is a command that cannot be understood; Problem says why.
	Wrong CommandKind = "wrong"
)

// Word is what commands begin with.
const Word = "/autoloop"

// Help lists the commands, for answers.
const Help = "`/autoloop run`, `pause [reason]`, `resume`, `status`, `set target-metric X`, `undo N`, `reactivate`, " +
	"or free text as an instruction for the next iteration"

// maxText bounds a reason or an instruction, in runes.
const maxText = 1000

// Command is one `/autoloop` line of a comment.
type Command struct {
	Kind CommandKind
	// Program is the name that the line picks; "" when it picks none.
	Program string
	// Text is the reason of a pause, or an instruction.
	Text string
	// Target is the value of SetTarget.
	Target *metric.Value
	// Iteration is that of Undo.
	Iteration int
	// Problem says why the command is Wrong.
	Problem string
}

// Parse reads the commands of a comment, in their order, and the text around them. A
// command is a line that people see as text: none is in a quotation, code or HTML.
func Parse(body string) (commands []Command, around string) {
	body = strings.ReplaceAll(body, "\r\n", "\n")
	seen := visible([]byte(body))
	var others []string
	start := 0
	for line := range strings.Lines(body) {
		trimmed := strings.TrimSpace(line)
		rest, is := strings.CutPrefix(trimmed, Word)
		if is = is && (rest == "" || rest[0] == ' ' || rest[0] == '\t'); is && seen[start+strings.Index(line, Word)] {
			text := strings.TrimSpace(rest)
			name, after, found := strings.Cut(text, ":") // a program's name is one word, and no word of ours
			if !found || name == "" || len(name) > 64 ||
				strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") != "" {
				name, after = "", text
			}
			command := parseWords(strings.TrimSpace(after))
			command.Program = name
			commands = append(commands, command)
		} else {
			others = append(others, strings.TrimRight(line, "\n"))
		}
		start += len(line)
	}
	return commands, strings.TrimSpace(strings.Join(others, "\n"))
}

// visible are the places of a markdown text where plain text begins, outside of
// quotations.
func visible(source []byte) map[int]bool {
	places := map[int]bool{}
	document := goldmark.DefaultParser().Parse(text.NewReader(source))
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it gives no error
		switch n := n.(type) {
		case *ast.Blockquote, *ast.CodeSpan, *ast.Link:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if entering {
				places[n.Segment.Start] = true
			}
		}
		return ast.WalkContinue, nil
	})
	return places
}

func parseWords(text string) Command {
	wrong := func(problem string) Command { return Command{Kind: Wrong, Problem: problem} }
	words := strings.Fields(text)
	if len(words) == 0 {
		return wrong("say what to do: " + Help)
	}
	rest := strings.TrimSpace(text[len(words[0]):])
	switch word := strings.ToLower(words[0]); word {
	case string(Run), string(Resume), string(Status), string(Reactivate):
		if rest == "" {
			return Command{Kind: CommandKind(word)}
		}
	case string(Pause):
		return Command{Kind: Pause, Text: plain.Inline(rest, 200)}
	case "set":
		if len(words) < 2 || !strings.EqualFold(strings.ReplaceAll(words[1], "_", "-"), "target-metric") {
			break
		}
		if len(words) != 3 {
			return wrong("say one number, as in `/autoloop set target-metric 0.95`")
		}
		value, err := metric.ParseValue(words[2])
		if err != nil {
			return wrong(plain.Inline(words[2], 40) + " is no number, as in `/autoloop set target-metric 0.95`")
		}
		return Command{Kind: SetTarget, Target: &value}
	case string(Undo):
		switch len(words) {
		case 1:
			return wrong("say which iteration, as in `/autoloop undo 12`")
		case 2:
			iteration, err := strconv.Atoi(strings.TrimPrefix(words[1], "#"))
			if err != nil || iteration < 1 {
				return wrong(plain.Inline(words[1], 40) + " is no iteration, as in `/autoloop undo 12`")
			}
			return Command{Kind: Undo, Iteration: iteration}
		}
	}
	return Command{Kind: Instruct, Text: plain.Clip(text, maxText)}
}
