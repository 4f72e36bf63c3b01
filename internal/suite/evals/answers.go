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
	"github.com/org/autoloop/internal/suite"
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
	p := &pairs{file: file}
	decoder := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) {
		return input,
			nil
	} // it is UTF-8, whatever it declares
	found := 0
	for {
		var root element[element[element[struct{ XMLName xml.Name }]]]
		err := decoder.Decode(&root)
		line, _ := decoder.InputPos()
		if err != nil && !errors.Is(err, io.EOF) {
			p.fail(line, "", "is not XML: %s", plain.Short(err.Error(), document.MaxShown))
			break
		}
		if err != nil {
			if found == 0 {
				p.fail(line, "evaluation", "has no `qa_pair`")
			}
			break
		}
		if root.XMLName.Local != "evaluation" {
			p.stray(root.line, root.XMLName)
			continue
		}
		for _, pair := range root.Below {
			if pair.XMLName.Local != "qa_pair" {
				p.stray(pair.line, pair.XMLName)
			} else if found++; found <= maxPairs {
				p.take(pair, fmt.Sprintf("qa_pair[%d]", found-1))
			}
		}
		if found > maxPairs {
			p.fail(root.line, "evaluation", "has more than %d questions", maxPairs)
		}
	}
	if len(p.problems) > 0 {
		return nil, p.problems
	}
	return p.answers, nil
}

// element is one with its text, its line, and what is in it.
type element[B any] struct {
	XMLName xml.Name
	Text    string `xml:",chardata"`
	Below   []B    `xml:",any"`
	line    int
}

// UnmarshalXML notes the line on which an element begins.
func (e *element[B]) UnmarshalXML(decoder *xml.Decoder, start xml.StartElement) error {
	e.line, _ = decoder.InputPos()
	type lineless element[B]
	return decoder.DecodeElement((*lineless)(e), &start)
}

// pairs are the questions that were read.
type pairs struct {
	file     string
	problems document.Problems
	answers  []Answer
}

func (p *pairs) fail(line int, key, format string, args ...any) {
	p.problems = p.problems.With(document.Problem{
		File: p.file, Line: line, Key: key,
		Message: fmt.Sprintf(format, args...),
	})
}

func (p *pairs) stray(line int, name xml.Name) {
	p.fail(line, plain.Short(name.Local, document.MaxShown),
		"does not belong here; there are `evaluation`, in it `qa_pair`, and in that `question` and `answer`")
}

// take reads a pair, which has a question and an answer, each of them once.
func (p *pairs) take(pair element[element[struct{ XMLName xml.Name }]], key string) {
	given := map[string]string{}
	for _, part := range pair.Below {
		name := part.XMLName.Local
		if name != "question" && name != "answer" {
			p.stray(part.line, part.XMLName)
			continue
		}
		for _, inner := range part.Below {
			p.stray(part.line, inner.XMLName)
		}
		if _, twice := given[name]; twice {
			p.fail(part.line, key+"."+name, "is there twice; remove one")
		}
		given[name] = strings.TrimSpace(part.Text)
	}
	if given["question"] == "" {
		p.fail(pair.line, key+".question", "is missing or empty")
	}
	answer, there := given["answer"]
	if !there {
		p.fail(pair.line, key+".answer", "is missing")
	}
	p.answers = append(p.answers, Answer{given["question"], answer})
}

// AnswersFile is where an executor puts the answer to a question, below outputs/.
const AnswersFile = "answer.txt"

// Questions makes a case of each question: it passes when outputs/answer.txt is
// the answer, whatever its case and the blanks around it.
func Questions(skill string, answers []Answer) EvalSuite {
	asked := EvalSuite{SkillName: skill}
	for i, pair := range answers {
		asked.Cases = append(asked.Cases, Case{
			ID: strconv.Itoa(i + 1),
			Prompt: fmt.Sprintf("%s\n\nWrite the answer, and nothing else, into %s/%s.", pair.Question, suite.OutputsDir,
				AnswersFile),
			Checks: []suite.Check{{
				Kind: suite.ExactAnswer, Description: "the answer is exact", File: AnswersFile,
				Text: pair.Answer,
			}},
		})
	}
	return asked
}
