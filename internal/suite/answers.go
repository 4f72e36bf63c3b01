package suite

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/org/autoloop/internal/plain"
)

// maxPairs bounds the questions of one file.
const maxPairs = 500

// evaluation is an evaluation.xml.
type evaluation struct {
	XMLName xml.Name   `xml:"evaluation"`
	Pairs   []pair     `xml:"qa_pair"`
	Other   []stranger `xml:",any"`
}

type pair struct {
	Question []words    `xml:"question"`
	Answer   []words    `xml:"answer"`
	Other    []stranger `xml:",any"`
	line     int
}

type words struct {
	Text  string     `xml:",chardata"`
	Other []stranger `xml:",any"`
}

// stranger is an element where none is allowed.
type stranger struct{}

// UnmarshalXML keeps the line.
func (p *pair) UnmarshalXML(decoder *xml.Decoder, start xml.StartElement) error {
	type bare pair
	p.line, _ = decoder.InputPos()
	return decoder.DecodeElement((*bare)(p), &start)
}

// UnmarshalXML ends the reading.
func (*stranger) UnmarshalXML(_ *xml.Decoder, start xml.StartElement) error {
	return fmt.Errorf("`%s` does not belong here; in `evaluation` there are `qa_pair`, and in each `question` and "+
		"`answer`", start.Name.Local)
}

// AnswersFile is where an executor puts the answer to a question, below outputs/.
const AnswersFile = "answer.txt"

// ParseAnswers reads an evaluation.xml: `<evaluation>` with a `<qa_pair>` of `<question>` and
// `<answer>` for each question. Entities beside those of XML itself are not followed. A case passes
// when outputs/answer.txt is the answer, whatever its case and the blanks around it.
func ParseAnswers(file string, data []byte) ([]Case, error) {
	f := &File{name: file}
	if len(data) > maxEvalFile {
		f.fail(0, "", "has more than %d KiB", maxEvalFile/1024)
		return nil, f.Err()
	}
	if !utf8.Valid(data) {
		f.fail(1, "", "is not UTF-8; save it so")
		return nil, f.Err()
	}
	var cases []Case
	decoder := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { // it is UTF-8, whatever it declares
		return input, nil
	}
	var read evaluation
	err := decoder.Decode(&read)
	if err == nil {
		err = decoder.Decode(&stranger{}) // behind it
	}
	line, _ := decoder.InputPos()
	switch {
	case !errors.Is(err, io.EOF):
		f.fail(line, "", "is no list of questions: %s", plain.Short(err.Error(), problemWidth))
	case len(read.Pairs) == 0:
		f.fail(line, "evaluation", "has no `qa_pair`")
	case len(read.Pairs) > maxPairs:
		f.fail(line, "evaluation", "has more than %d questions", maxPairs)
	default:
		for i, pair := range read.Pairs {
			var texts [2]string
			for k, given := range [][]words{pair.Question, pair.Answer} {
				if len(given) == 1 {
					texts[k] = strings.TrimSpace(given[0].Text)
				}
				if len(given) != 1 || k == 0 && texts[k] == "" {
					f.fail(pair.line, fmt.Sprintf("qa_pair[%d].%s", i, []string{"question", "answer"}[k]),
						"must be there once; a question cannot be empty")
				}
			}
			cases = append(cases, Case{
				ID: strconv.Itoa(i + 1),
				Prompt: fmt.Sprintf("%s\n\nWrite the answer, and nothing else, into %s/%s.", texts[0],
					OutputsDir, AnswersFile),
				Checks: []Check{{
					Kind: ExactAnswer, Description: "the answer is exact", File: AnswersFile, Text: texts[1],
				}},
			})
		}
	}
	return cases, f.Err()
}
