package page_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/render/page"
)

func TestAgentsOfKeptIterations(t *testing.T) {
	t.Parallel()
	text := `{"event":"measured","role":"baseline","metric":10,"direction":"lower"}` + "\n"
	for i, e := range []string{
		`"agent":"small","outcome":"rejected","best":10`, `"agent":"large","outcome":"accepted","best":8`,
		`"agent":"small","outcome":"accepted","best":7.5`, `"agent":"large","outcome":"accepted","best":7`,
		`"agent":"large","outcome":"rejected","best":7`,
	} {
		text += fmt.Sprintf(`{"event":"decided","iteration":%d,"metric":7,%s}`+"\n", i+1, e)
	}
	p := program(t, page.Source{Name: "p", Events: ledger(t, text)})
	assert.Equal(t, []page.Share{{Name: "large", Count: 2, Part: 2.0 / 3}, {Name: "small", Count: 1, Part: 1.0 / 3}},
		p.Found())
}
