package document

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/org/autoloop/internal/plain"
)

// Type is the type of a JSON value.
type Type string

// The types, as messages name them.
const (
	Object Type = "an object"
	List   Type = "a list"
	Text   Type = "a text"
	Number Type = "a number"
	Truth  Type = "true or false"
	Null   Type = "null"
)

// Node is one JSON value with the line on which it stands. Unlike what
// encoding/json makes of a struct, it keeps the order, the spelling and the
// repetition of keys.
type Node struct {
	Type   Type
	Line   int
	Text   string // of a text, or a number as it is written
	Truth  bool
	Fields []Field
	Items  []Node
}

// Field is one key of an object.
type Field struct {
	Name  string
	Value Node
}

const (
	maxDepth = 32
	// maxNodes bounds the memory that one file can ask for.
	maxNodes = 2_000_000
)

type syntaxError struct {
	line int
	err  error
}

type doubled struct {
	line int
	key  string // its whole path
}

// parseNode reads one JSON value, and nothing behind it. Of a key that is there
// more than once the first is taken, and the others are told.
func parseNode(data []byte) (Node, []doubled, *syntaxError) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		return Node{}, nil, &syntaxError{err: errors.New("is not UTF-8 text")}
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	t := tokens{decoder: decoder, data: data, line: 1}
	root, err := t.value(0)
	if err == nil {
		err = t.end()
	}
	if err != nil {
		return Node{}, nil, t.explain(err)
	}
	return root, t.doubled, nil
}

// tokens reads a tree from a decoder and keeps count of the lines.
type tokens struct {
	decoder *json.Decoder
	data    []byte
	at      int64
	line    int
	nodes   int
	above   []step // from the root to the value that is read
	doubled []doubled
}

// step leads from a value to one in it: by a key, or without one by an index.
type step struct {
	key   string
	index int
	isKey bool
}

// path is where the value stands that is read.
func (t *tokens) path() string {
	key := ""
	for _, s := range t.above {
		if s.isKey {
			key = Join(key, s.key)
		} else {
			key += fmt.Sprintf("[%d]", s.index)
		}
	}
	return key
}

func (t *tokens) next() (json.Token, error) {
	token, err := t.decoder.Token()
	if offset := t.decoder.InputOffset(); offset > t.at {
		t.line += bytes.Count(t.data[t.at:offset], []byte("\n"))
		t.at = offset
	}
	return token, err
}

func (t *tokens) value(depth int) (Node, error) {
	if t.nodes++; t.nodes > maxNodes {
		return Node{}, fmt.Errorf("has more than %d values", maxNodes)
	}
	token, err := t.next()
	if err != nil {
		return Node{}, err
	}
	n := Node{Line: t.line}
	switch token := token.(type) {
	case json.Delim:
		if depth == maxDepth {
			return Node{}, fmt.Errorf("is nested more than %d levels deep", maxDepth)
		}
		if token == '{' {
			n.Type = Object
			return n, t.object(&n, depth)
		}
		n.Type = List
		return n, t.list(&n, depth)
	case string:
		n.Type, n.Text = Text, token
	case json.Number:
		n.Type, n.Text = Number, token.String()
	case bool:
		n.Type, n.Truth = Truth, token
	default:
		n.Type = Null
	}
	return n, nil
}

func (t *tokens) object(n *Node, depth int) error {
	seen := map[string]bool{}
	for t.decoder.More() {
		token, err := t.next()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		t.above = append(t.above, step{key: name, isKey: true})
		twice := seen[name]
		if twice && len(t.doubled) <= maxProblems {
			t.doubled = append(t.doubled, doubled{t.line, t.path()})
		}
		value, err := t.value(depth + 1)
		if err != nil {
			return err
		}
		if !twice {
			n.Fields = append(n.Fields, Field{name, value})
		}
		seen[name] = true
		t.above = t.above[:len(t.above)-1]
	}
	_, err := t.next()
	return err
}

func (t *tokens) list(n *Node, depth int) error {
	for t.decoder.More() {
		t.above = append(t.above, step{index: len(n.Items)})
		item, err := t.value(depth + 1)
		if err != nil {
			return err
		}
		n.Items = append(n.Items, item)
		t.above = t.above[:len(t.above)-1]
	}
	_, err := t.next()
	return err
}

// end makes sure that nothing follows the value.
func (t *tokens) end() error {
	_, err := t.next()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.New("has something after the end of its JSON value")
}

// explain gives an error its line, and says what a person would not know from
// the decoder's words.
func (t *tokens) explain(err error) *syntaxError {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &syntaxError{line: t.line, err: errors.New("ends in the middle of its JSON value")}
	case !errors.As(err, &syntax):
		return &syntaxError{line: t.line, err: err}
	}
	at := min(max(int(syntax.Offset)-1, int(t.at)), len(t.data))
	line := t.line + bytes.Count(t.data[t.at:at], []byte("\n"))
	if nonFiniteWord(t.data[t.at:]) {
		return &syntaxError{
			line: line,
			err:  errors.New("has a NaN or an infinity, which JSON does not have; give a finite number"),
		}
	}
	return &syntaxError{line: line, err: fmt.Errorf("is not JSON: %s", plain.Short(syntax.Error(), MaxShown))}
}

// nonFiniteWord reports whether a NaN or an infinity comes next, as some
// writers print them.
func nonFiniteWord(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n:,[-+")
	for _, word := range []string{"NaN", "nan", "Infinity", "inf"} {
		if bytes.HasPrefix(rest, []byte(word)) {
			return true
		}
	}
	return false
}

// Plain turns a node into what encoding/json makes of it with UseNumber.
func Plain(n Node) any {
	switch n.Type {
	case Text:
		return n.Text
	case Number:
		return json.Number(cmp.Or(n.Text, "0"))
	case Truth:
		return n.Truth
	case List:
		list := []any{}
		for _, item := range n.Items {
			list = append(list, Plain(item))
		}
		return list
	case Object:
		object := map[string]any{}
		for _, f := range n.Fields {
			object[f.Name] = Plain(f.Value)
		}
		return object
	default:
		return nil
	}
}
