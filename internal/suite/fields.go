package suite

import (
	"cmp"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// KeysOf has what reads an object's keys into the fields of a struct, to which `to` points, that have their
// names in JSON: texts, truths, whole numbers, metric.Values, structs, lists of structs, and pointers to
// these. The tags of a field say what besides is so:
//
//	need:"yes"   the key must be there, and not null
//	most:"200"   a number is at most so large, a text has at most so many bytes, a list so many entries
//	must:"…"     what a number must be, for a message; null is no such number
//
// No number is less than 0. One that is not finite stays nil or 0, and its key is noted in the File.
func KeysOf(to any) (take Keys, required []string) {
	take = Keys{}
	in := reflect.ValueOf(to).Elem()
	for _, field := range reflect.VisibleFields(in.Type()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		take[name] = func(n Node) { n.into(in.FieldByIndex(field.Index), field.Tag) }
		if field.Tag.Get("need") != "" {
			required = append(required, name)
		}
	}
	return take, required
}

// Fill reads an object, with any keys besides, into a struct.
func (n Node) Fill(to any) {
	take, required := KeysOf(to)
	n.Object(take, false, required...)
}

// into reads a value into a field with these tags, and reports whether it is one.
func (n Node) into(field reflect.Value, tag reflect.StructTag) bool {
	must, needed := tag.Get("must"), tag.Get("need") != ""
	most, _ := strconv.Atoi(tag.Get("most"))
	switch kind := field.Kind(); {
	case n.Type == Null && !needed && must == "":
		return false
	case kind == reflect.Pointer:
		value := reflect.New(field.Type().Elem())
		if n.into(value.Elem(), tag) {
			field.Set(value)
		}
	case kind == reflect.Bool:
		field.SetBool(n.Bool())
	case kind == reflect.String:
		var text string
		Optional(&text, cmp.Or(most, math.MaxInt))(n)
		field.SetString(text)
	case kind == reflect.Slice:
		field.Set(reflect.MakeSlice(field.Type(), 0, 0))
		n.List(most, func(n Node) {
			item := reflect.New(field.Type().Elem())
			n.Fill(item.Interface())
			field.Set(reflect.Append(field, item.Elem()))
		})
	case kind == reflect.Int, field.Type() == reflect.TypeFor[metric.Value]():
		var value metric.Value
		finite := false
		if n.Type != Null {
			value, finite = n.Number()
		}
		if !finite {
			n.NotFinite = cmp.Or(n.NotFinite, n.Key())
			return false
		}
		whole := value.Rat().IsInt()
		if value.Sign() < 0 || most > 0 && value.Cmp(metric.FromInt(int64(most))) > 0 || kind == reflect.Int && !whole {
			n.Fail("is %s; it must be %s", plain.Short(n.Text, MaxShown), cmp.Or(must, "0 or more"))
		}
		if kind == reflect.Int {
			field.SetInt(value.Rat().Num().Int64())
		} else {
			field.Set(reflect.ValueOf(value))
		}
	default:
		n.Fill(field.Addr().Interface())
	}
	return true
}
