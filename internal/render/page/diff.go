package page

import (
	"cmp"
	"embed"
	"go/scanner"
	"go/token"
	"path"
	"strings"

	"github.com/alecthomas/chroma/v2"
)

//go:embed languages/*.xml
var languages embed.FS

// maxDiffLines bounds the change that is shown of one iteration.
const maxDiffLines = 400

// DiffLine is one line of a change.
type DiffLine struct {
	// Class is add, del, hunk, file or same.
	Class string
	// Sign is the first character of an added, deleted or unchanged line.
	Sign  string
	Parts []DiffPart
}

// DiffPart is a piece of a line with one colour; Class is "" for plain text.
type DiffPart struct{ Class, Text string }

// lexers finds the language of a file by its ending.
type lexers map[string]chroma.Lexer

// endings are the languages that are coloured, by the ending of the file.
var endings = map[string]string{ //nolint:gochecknoglobals // a constant table
	".sh": "bash", ".bash": "bash", ".c": "c", ".h": "c", ".cc": "c++", ".cpp": "c++", ".hpp": "c++", ".css": "css",
	".ini": "ini", ".cfg": "ini", ".conf": "ini", ".java": "java", ".js": "javascript",
	".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript", ".json": "json", ".py": "python", ".rb": "ruby",
	".rs": "rust", ".sql": "sql", ".toml": "toml", ".ts": "typescript", ".tsx": "typescript", ".yaml": "yaml", ".yml": "yaml",
}

func (l lexers) of(file string) chroma.Lexer {
	if path.Ext(file) == ".go" {
		return goCode{}
	}
	name, known := endings[strings.ToLower(path.Ext(file))]
	if !known {
		return nil
	}
	if lexer, read := l[name]; read {
		return lexer
	}
	lexer, err := chroma.NewXMLLexer(languages, "languages/"+name+".xml")
	if err != nil {
		l[name] = nil // its files are shown without colours
		return nil
	}
	l[name] = lexer
	return lexer
}

// parseDiff reads a change as git prints it.
func parseDiff(patch []byte, known lexers) []DiffLine {
	var lines []DiffLine
	var lexer chroma.Lexer
	for text := range strings.SplitSeq(strings.TrimRight(string(patch), "\n"), "\n") {
		if len(lines) == maxDiffLines {
			return append(lines, DiffLine{Class: "hunk", Parts: []DiffPart{{Text: "… the commit has the rest"}}})
		}
		switch {
		case strings.HasPrefix(text, "diff --git "):
			file := fileOf(text)
			lexer = known.of(file)
			lines = append(lines, DiffLine{Class: "file", Parts: []DiffPart{{Text: clip(file, 200)}}})
		case strings.HasPrefix(text, "index "), strings.HasPrefix(text, "--- "), strings.HasPrefix(text, "+++ "):
		case strings.HasPrefix(text, "@@"):
			lines = append(lines, DiffLine{Class: "hunk", Parts: []DiffPart{{Text: clip(text, 200)}}})
		case strings.HasPrefix(text, "+"):
			lines = append(lines, DiffLine{"add", "+", colour(lexer, text[1:])})
		case strings.HasPrefix(text, "-"):
			lines = append(lines, DiffLine{"del", "-", colour(lexer, text[1:])})
		case strings.HasPrefix(text, " "):
			lines = append(lines, DiffLine{"same", " ", colour(lexer, text[1:])})
		case text != "":
			lines = append(lines, DiffLine{Class: "hunk", Parts: []DiffPart{{Text: clip(text, 200)}}})
		}
	}
	return lines
}

// fileOf is the second path of a diff's first line.
func fileOf(header string) string {
	if _, file, found := strings.Cut(header, " b/"); found {
		return file
	}
	return strings.TrimPrefix(header, "diff --git ")
}

// colour splits a line of code into its coloured pieces.
func colour(lexer chroma.Lexer, text string) []DiffPart {
	text = clip(text, 500)
	if lexer == nil {
		return []DiffPart{{Text: text}}
	}
	if _, isGo := lexer.(goCode); isGo {
		return colourGo(text)
	}
	tokens, err := chroma.Tokenise(chroma.Coalesce(lexer), nil, text)
	if err != nil {
		return []DiffPart{{Text: text}}
	}
	var parts []DiffPart
	for _, token := range tokens {
		piece := strings.TrimRight(token.Value, "\n")
		if piece == "" {
			continue
		}
		class := ""
		switch {
		case token.Type.InCategory(chroma.Comment):
			class = "c"
		case token.Type.InCategory(chroma.Keyword):
			class = "k"
		case token.Type.InSubCategory(chroma.LiteralString):
			class = "s"
		case token.Type.InSubCategory(chroma.LiteralNumber):
			class = "n"
		case token.Type.InSubCategory(chroma.NameFunction), token.Type.InSubCategory(chroma.NameBuiltin):
			class = "f"
		}
		parts = append(parts, DiffPart{class, piece})
	}
	return parts
}

// goCode stands for the scanner of the standard library, which chroma's
// description of Go, a program and not a file, does not have to be read for.
type goCode struct{ chroma.Lexer }

// colourGo splits a line of Go. A line inside of a comment or a string that
// spans lines is coloured as code.
func colourGo(text string) []DiffPart {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), nil, scanner.ScanComments)
	var parts []DiffPart
	done := 0
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			break
		}
		at := file.Offset(pos)
		literal = cmp.Or(literal, kind.String())
		if kind == token.SEMICOLON && literal == "\n" || at < done || at+len(literal) > len(text) {
			continue
		}
		var class string
		switch {
		case kind == token.COMMENT:
			class = "c"
		case kind.IsKeyword():
			class = "k"
		case kind == token.STRING || kind == token.CHAR:
			class = "s"
		case kind == token.INT || kind == token.FLOAT || kind == token.IMAG:
			class = "n"
		default:
			continue
		}
		if at > done {
			parts = append(parts, DiffPart{"", text[done:at]})
		}
		parts = append(parts, DiffPart{class, text[at : at+len(literal)]})
		done = at + len(literal)
	}
	if done < len(text) {
		parts = append(parts, DiffPart{"", text[done:]})
	}
	return parts
}
