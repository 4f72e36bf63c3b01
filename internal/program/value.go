package program

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// value is one YAML value with its line in the file.
type value struct {
	kind   valueKind
	text   string // of a scalar, without quotes
	quoted bool
	line   int
	items  []value
	keys   []string
	fields []value
}

type valueKind int

const (
	null valueKind = iota
	scalar
	list
	mapping
)

const maxDepth = 8

// convert turns a YAML node into a value. Anchors, aliases and tags have no
// use here and are refused.
func convert(node ast.Node, offset, depth int) (value, error) {
	line := offset + node.GetToken().Position.Line
	v := value{line: line}
	if depth > maxDepth {
		return v, fmt.Errorf("the value is nested too deeply")
	}
	switch node := node.(type) {
	case *ast.NullNode:
		return v, nil
	case *ast.StringNode:
		v.kind, v.text = scalar, node.Value
		v.quoted = node.Token.Type.String() == "DoubleQuote" || node.Token.Type.String() == "SingleQuote"
		return v, nil
	case *ast.LiteralNode:
		v.kind, v.text, v.quoted = scalar, node.Value.Value, true
		return v, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		v.kind, v.text = scalar, strings.TrimSpace(node.GetToken().Value)
		return v, nil
	case *ast.SequenceNode:
		return convertList(node, offset, depth, v)
	case *ast.MappingNode:
		return convertMap(node.Values, offset, depth, v)
	case *ast.MappingValueNode:
		return convertMap([]*ast.MappingValueNode{node}, offset, depth, v)
	default:
		return v, fmt.Errorf("anchors, aliases and tags are not accepted; write the value out")
	}
}

func convertList(node *ast.SequenceNode, offset, depth int, v value) (value, error) {
	v.kind = list
	for _, item := range node.Values {
		converted, err := convert(item, offset, depth+1)
		if err != nil {
			return v, err
		}
		v.items = append(v.items, converted)
	}
	return v, nil
}

func convertMap(pairs []*ast.MappingValueNode, offset, depth int, v value) (value, error) {
	v.kind = mapping
	for _, pair := range pairs {
		converted, err := convert(pair.Value, offset, depth+1)
		if err != nil {
			return v, err
		}
		v.keys = append(v.keys, normalKey(pair.Key.GetToken().Value))
		v.fields = append(v.fields, converted)
	}
	return v, nil
}

func normalKey(key string) string { return strings.ReplaceAll(strings.TrimSpace(key), "_", "-") }
