package suite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/lists"
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

// Node is one JSON value that knows where it stands, and its file. Unlike what
// encoding/json makes of a struct, it keeps the order, the spelling and the
// repetition of keys.
type Node struct {
	*File

	above  *Node  // what it is in; nil for the whole
	field  string // in an object
	index  int    // in a list
	at     int    // in the file: the end of its first token
	Type   Type
	Text   string // of a text, or a number as it is written
	True   bool
	Fields []Field
	Items  []Node
}

// Key is the path to a value, such as checks[2].path; "" is the whole.
func (n Node) Key() string {
	switch {
	case n.above == nil:
		return n.field
	case n.above.Type == List:
		return fmt.Sprintf("%s[%d]", n.above.Key(), n.index)
	default:
		if key := n.above.Key(); key != "" {
			return key + "." + n.field
		}
		return n.field
	}
}

// Has reports whether an object has a key.
func (n Node) Has(name string) bool {
	return slices.ContainsFunc(n.Fields, func(f Field) bool { return f.Name == name })
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

// parse reads one JSON value, and nothing behind it; an error has its line.
func (f *File) parse(data []byte) (root Node, line int, err error) {
	f.data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(f.data) {
		return Node{}, 0, errors.New("is not UTF-8 text")
	}
	f.decoder = json.NewDecoder(bytes.NewReader(f.data))
	f.decoder.UseNumber()
	root, err = f.value(Node{}, 0)
	if err == nil {
		if _, err = f.decoder.Token(); errors.Is(err, io.EOF) {
			return root, 0, nil
		}
		err = cmp.Or(err, errors.New("has something after the end of its JSON value"))
	}
	at := int(f.decoder.InputOffset())
	syntax, is := errors.AsType[*json.SyntaxError](err)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("ends in the middle of its JSON value")
	case is: // what a person would not know from the decoder's words
		at = min(max(int(syntax.Offset)-1, at), len(f.data))
		err = fmt.Errorf("is not JSON: %s", plain.Short(syntax.Error(), MaxShown))
	}
	return Node{}, f.line(at), err
}

// line is that of a place in the file.
func (f *File) line(at int) int { return 1 + bytes.Count(f.data[:at], []byte("\n")) }

func (f *File) value(n Node, depth int) (Node, error) {
	if f.nodes++; f.nodes > maxNodes {
		return Node{}, fmt.Errorf("has more than %d values", maxNodes)
	}
	token, err := f.decoder.Token()
	if err != nil {
		return Node{}, err
	}
	n.File, n.Type, n.at = f, Null, int(f.decoder.InputOffset())
	switch token := token.(type) {
	case json.Delim:
		if depth == maxDepth {
			return Node{}, fmt.Errorf("is nested more than %d levels deep", maxDepth)
		}
		if n.Type = List; token == '{' {
			n.Type = Object
		}
		return n, f.inside(&n, depth)
	case string:
		n.Type, n.Text = Text, token
	case json.Number:
		n.Type, n.Text = Number, token.String()
	case bool:
		n.Type, n.True = Truth, token
	}
	return n, nil
}

// inside reads the fields of an object, or the items of a list.
func (f *File) inside(n *Node, depth int) error {
	seen := map[string]bool{}
	for f.decoder.More() {
		name := ""
		if n.Type == Object {
			token, err := f.decoder.Token()
			if err != nil {
				return err
			}
			name, _ = token.(string)
		}
		value, err := f.value(Node{above: n, field: name, index: len(n.Items)}, depth+1)
		if err != nil {
			return err
		}
		if n.Type == List {
			n.Items = append(n.Items, value)
			continue
		}
		if seen[name] {
			value.Fail("is there twice; remove one")
		}
		seen[name] = true
		n.Fields = append(n.Fields, Field{name, value})
	}
	_, err := f.decoder.Token()
	return err
}

// textOrWord is a text, or one of these that is outside of texts.
var textOrWord = lazyregexp.New(`(?s)"(?:[^"\\]|\\.)*"|-?(?:NaN|Infinity)`)

// FiniteWords replaces the NaN and Infinity that some writers print by a
// number out of range, so that they are told from text that is no JSON.
func FiniteWords(data []byte) []byte {
	return textOrWord().ReplaceAllFunc(data, func(found []byte) []byte {
		if found[0] == '"' {
			return found
		}
		return []byte("1e999")
	})
}

// Plain turns a node into what encoding/json makes of it with UseNumber.
func Plain(n Node) any {
	switch n.Type {
	case Text:
		return n.Text
	case Number:
		return json.Number(cmp.Or(n.Text, "0"))
	case Truth:
		return n.True
	case List:
		return lists.Map(n.Items, Plain)
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
