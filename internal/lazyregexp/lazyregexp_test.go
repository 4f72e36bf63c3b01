package lazyregexp

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNewRefusesAMalformedExpressionInATest(t *testing.T) {
	t.Parallel()
	assert.Panics(t, func() { New("(") })
}

func TestRegexpIsCompiledOnce(t *testing.T) {
	t.Parallel()
	form := New(`(\w)(\d)`)
	first := form()
	assert.Same(t, first, form())
	assert.Equal(t, []string{"a1", "b2"}, form().FindAllString("a1b2", -1))
}
