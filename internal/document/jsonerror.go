package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/org/autoloop/internal/plain"
)

// JSONError says what is wrong with JSON in the words of JSON: encoding/json names
// types of this program.
func JSONError(err error) string {
	var kind *json.UnmarshalTypeError
	if !errors.As(err, &kind) {
		return plain.Short(err.Error(), MaxShown)
	}
	where := "it"
	if kind.Field != "" {
		where = "`" + kind.Field + "`"
	}
	return plain.Short(fmt.Sprintf("%s is a %s where %s is needed", where, kind.Value, jsonName(kind.Type)), MaxShown)
}

func jsonName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return jsonName(t.Elem())
	default:
		return "a number"
	}
}
