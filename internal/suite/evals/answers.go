package evals

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/plain"
)

// maxPairs bounds the questions of one file.
const maxPairs = 500

// ParseAnswers reads an evaluation.xml: `<evaluation>` with a `<qa_pair>` of
// `<question>` and `<answer>` for each question. Entities beside those of XML
// itself are not followed.
func ParseAnswers(file string, data []byte) ([]Answer, document.Problems) {
	if len(data) > maxEvalFile {
		return nil, document.Problems{{File: file, Message: fmt.Sprintf("has more than %d KiB", maxEvalFile/1024)}}
	}
	if !utf8.Valid(data) {
		return nil, document.Problems{{File: file, Line: 1, Message: "is not UTF-8; save it so"}}
	}
	p := &pairs{file: file, decoder: xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))}
	p.decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil } // it is UTF-8, whatever it declares
	for {
		token, err := p.decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			p.fail("", "is not XML: %s", plain.Short(err.Error(), document.MaxShown))
			return nil, p.problems
		}
		p.take(token)
	}
	if p.number == 0 {
		p.fail("evaluation", "has no `qa_pair`")
	}
	if len(p.problems) > 0 {
		return nil, p.problems
	}
	return p.answers, nil
}

// pairs reads the questions one token after the other.
type pairs struct {
	file     string
	decoder  *xml.Decoder
	problems document.Problems
	answers  []Answer
	open     []string // the elements around this place
	text     strings.Builder
	pair     Answer
	number   int
	line     int // of the pair
	seen     map[string]bool
}

func (p *pairs) fail(key, format string, args ...any) {
	line, _ := p.decoder.InputPos()
	p.failAt(line, key, format, args...)
}

func (p *pairs) failAt(line int, key, format string, args ...any) {
	p.problems = p.problems.With(document.Problem{File: p.file, Line: line, Key: key, Message: fmt.Sprintf(format, args...)})
}

// levels are the elements, from the outermost.
func levels() [3]string { return [3]string{"evaluation", "qa_pair", "question answer"} }

func (p *pairs) take(token xml.Token) {
	switch token := token.(type) {
	case xml.StartElement:
		p.begin(token.Name.Local)
	case xml.CharData:
		p.text.Write(token)
	case xml.EndElement:
		p.end(token.Name.Local)
	}
}

func (p *pairs) begin(name string) {
	depth, all := len(p.open), levels()
	if depth >= len(all) || !strings.Contains(" "+all[depth]+" ", " "+name+" ") {
		p.fail(plain.Short(name, document.MaxShown), "does not belong here; there are `evaluation`, in it `qa_pair`, and in that `question` and `answer`")
	}
	p.open = append(p.open, name)
	p.text.Reset()
	if name == "qa_pair" {
		p.pair = Answer{}
		p.line, _ = p.decoder.InputPos()
		p.seen = map[string]bool{}
		if p.number++; p.number == maxPairs+1 {
			p.fail("evaluation", "has more than %d questions", maxPairs)
		}
	}
}

func (p *pairs) end(name string) {
	p.open = p.open[:max(0, len(p.open)-1)]
	key := fmt.Sprintf("qa_pair[%d]", p.number-1)
	switch name {
	case "question":
		p.set(&p.pair.Question, name, key)
	case "answer":
		p.set(&p.pair.Answer, name, key)
	case "qa_pair":
		if p.pair.Question == "" {
			p.failAt(p.line, key+".question", "is missing or empty")
		}
		if !p.seen["answer"] {
			p.failAt(p.line, key+".answer", "is missing")
		}
		if p.number <= maxPairs {
			p.answers = append(p.answers, p.pair)
		}
	}
	p.text.Reset()
}

// set takes the text of an element that a pair has once.
func (p *pairs) set(to *string, name, key string) {
	if p.seen[name] {
		p.fail(key+"."+name, "is there twice; remove one")
	}
	if p.seen != nil { // else an element outside of a pair, which is said
		p.seen[name] = true
	}
	*to = strings.TrimSpace(p.text.String())
}

// AnswersFile is where an executor puts the answer to a question, below outputs/.
const AnswersFile = "answer.txt"

// Questions makes a case of each question: it passes when outputs/answer.txt is
// the answer, whatever its case and the blanks around it.
func Questions(skill string, answers []Answer) EvalSuite {
	suite := EvalSuite{SkillName: skill}
	for i, pair := range answers {
		suite.Cases = append(suite.Cases, Case{
			ID:     strconv.Itoa(i + 1),
			Prompt: fmt.Sprintf("%s\n\nWrite the answer, and nothing else, into %s/%s.", pair.Question, OutputsDir, AnswersFile),
			Checks: []Check{{Kind: exactAnswer, Description: "the answer is exact", File: AnswersFile, Text: pair.Answer}},
		})
	}
	return suite
}
