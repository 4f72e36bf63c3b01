package page_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	authors := p.Authors()
	require.Len(t, authors, 2)
	assert.Equal(t, []page.Author{
		{Name: "large", Kept: 2, Tried: 3, Gained: -2.5}, {Name: "small", Kept: 1, Tried: 2, Gained: -0.5},
	}, []page.Author{*authors[0], *authors[1]})
	assert.Equal(t, "-2.5", authors[0].Gain())
}
