package evals

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite"
)

// maxPairs bounds the questions of one file.
const maxPairs = 500

// inside says which elements of an evaluation.xml may be in which; "" is the file.
var inside = map[string][]string{"": {"evaluation"}, "evaluation": {"qa_pair"}, "qa_pair": {"question", "answer"}}

// ParseAnswers reads an evaluation.xml: `<evaluation>` with a `<qa_pair>` of
// `<question>` and `<answer>` for each question. Entities beside those of XML
// itself are not followed.
func ParseAnswers(file string, data []byte) (answers []Answer, problems document.Problems) {
	fail := func(line int, key, format string, args ...any) {
		problems = problems.With(document.Problem{
			File: file, Line: line, Key: key, Message: fmt.Sprintf(format, args...),
		})
	}
	if len(data) > maxEvalFile {
		fail(0, "", "has more than %d KiB", maxEvalFile/1024)
		return nil, problems
	}
	if !utf8.Valid(data) {
		fail(1, "", "is not UTF-8; save it so")
		return nil, problems
	}
	decoder := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { // it is UTF-8, whatever it declares
		return input, nil
	}
	open := []string{""} // the elements around
	var given map[string]string
	var text strings.Builder
	begun := 0 // where the pair does
	for {
		token, err := decoder.Token()
		line, _ := decoder.InputPos()
		key := fmt.Sprintf("qa_pair[%d]", len(answers))
		if errors.Is(err, io.EOF) {
			if len(answers) == 0 {
				fail(line, "evaluation", "has no `qa_pair`")
			}
			break
		}
		if err != nil {
			fail(line, "", "is not XML: %s", plain.Short(err.Error(), document.MaxShown))
			break
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			if !slices.Contains(inside[open[len(open)-1]], name) {
				fail(line, plain.Short(name, document.MaxShown), "does not belong here; there are `evaluation`, in it "+
					"`qa_pair`, and in that `question` and `answer`")
				_ = decoder.Skip() // the next token has its error
				continue
			}
			open = append(open, name)
			text.Reset()
			if _, twice := given[name]; twice {
				fail(line, key+"."+name, "is there twice; remove one")
			}
			if name == "qa_pair" {
				given, begun = map[string]string{}, line
			}
		case xml.CharData:
			text.Write(token)
		case xml.EndElement:
			name := open[len(open)-1]
			if open = open[:len(open)-1]; name != "qa_pair" {
				if name != "evaluation" {
					given[name] = strings.TrimSpace(text.String())
				}
				continue
			}
			answer, there := given["answer"]
			if given["question"] == "" {
				fail(begun, key+".question", "is missing or empty")
			}
			if !there {
				fail(begun, key+".answer", "is missing")
			}
			if answers = append(answers, Answer{given["question"], answer}); len(answers) == maxPairs+1 {
				fail(line, "evaluation", "has more than %d questions", maxPairs)
			}
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return answers, nil
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
			Prompt: fmt.Sprintf("%s\n\nWrite the answer, and nothing else, into %s/%s.", pair.Question,
				suite.OutputsDir, AnswersFile),
			Checks: []suite.Check{{
				Kind: suite.ExactAnswer, Description: "the answer is exact", File: AnswersFile,
				Text: pair.Answer,
			}},
		})
	}
	return asked
}
