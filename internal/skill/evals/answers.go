package evals

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

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
	text, err := decodeXML(data)
	if err != nil {
		return nil, document.Problems{{File: file, Line: 1, Message: err.Error()}}
	}
	p := &pairs{file: file, decoder: xml.NewDecoder(bytes.NewReader(text))}
	p.decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil } // it is UTF-8 by now
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
}

func (p *pairs) fail(key, format string, args ...any) {
	line, _ := p.decoder.InputPos()
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
		p.set(&p.pair.Question, key+".question")
	case "answer":
		p.set(&p.pair.Answer, key+".answer")
	case "qa_pair":
		if p.pair.Question == "" {
			p.fail(key+".question", "is missing or empty")
		}
		if p.pair.Answer == "" {
			p.fail(key+".answer", "is missing or empty")
		}
		if p.number <= maxPairs {
			p.answers = append(p.answers, p.pair)
		}
	}
	p.text.Reset()
}

// set takes the text of an element that a pair has once.
func (p *pairs) set(to *string, key string) {
	if *to != "" {
		p.fail(key, "is there twice; remove one")
	}
	*to = strings.TrimSpace(p.text.String())
}
