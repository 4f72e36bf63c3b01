package lazyregexp

import (
	"reflect"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNewRefusesAMalformedExpressionInATest(t *testing.T) {
	t.Parallel()
	assert.Panics(t, func() { New("(") })
}

func TestMethodsAreThoseOfRegexp(t *testing.T) {
	t.Parallel()
	own, theirs := reflect.TypeFor[*Regexp](), reflect.TypeFor[*regexp.Regexp]()
	for i := range own.NumMethod() {
		name := own.Method(i).Name
		method, found := theirs.MethodByName(name)
		if assert.True(t, found, name) {
			assert.Equal(t, method.Type.NumIn(), own.Method(i).Type.NumIn(), name)
		}
	}
	r, plain := New(`(?P<word>\w)(\d)`), regexp.MustCompile(`(?P<word>\w)(\d)`)
	assert.Equal(t, plain.FindAllStringSubmatchIndex("a1b2", -1), r.FindAllStringSubmatchIndex("a1b2", -1))
	assert.Equal(t, plain.ReplaceAllString("a1b2", "$2$word"), r.ReplaceAllString("a1b2", "$2$word"))
	assert.Equal(t, plain.String(), r.String())
}
