package page_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/render/page"
)

// TestCasesOfASuite: the first measurement, and of each iteration the candidate
// that decided it.
func TestCasesOfASuite(t *testing.T) {
	t.Parallel()
	text := `{"event":"measured","role":"baseline","metric":0.25,"numbers":{"case.a":0,"case.b":0.5,"score":1}}` + "\n"
	for i := 1; i <= 40; i++ {
		head := fmt.Sprintf(`"iteration":%d,"role":"candidate","stage":"trial"`, i)
		text += `{"event":"measured",` + head + `,"proposal":1,"numbers":{"case.a":0.5,"case.b":0.5}}` + "\n" +
			`{"event":"measured",` + head + `,"proposal":2,"case_samples":{"case.b":[1,0.5]}}` + "\n" +
			fmt.Sprintf(`{"event":"decided","iteration":%d,"proposal":%d,"outcome":"accepted",`, i, 1+i%2) +
			`"metric":0.5,"best":0.5}` + "\n"
	}
	events := ledger(t, text)
	p := program(t, page.Source{Name: "p", Events: events})
	m := p.Cases()
	require.NotNil(t, m)
	require.Len(t, m.Columns, 30)
	assert.Equal(t, []int{0, 12, 40}, []int{m.Columns[0].Iteration, m.Columns[1].Iteration, m.Columns[29].Iteration})
	require.Len(t, m.Rows, 2)
	assert.Equal(t, "[{0 rate0} {50 rate2} { rate-none}]", fmt.Sprint(m.Rows[0].Cells[:3]))
	assert.Equal(t, "[{50 rate2} {50 rate2} {75 rate3}]", fmt.Sprint(m.Rows[1].Cells[:3]))
	assert.Contains(t, single(t, p), `<td class="rate3 num">75</td>`)
	assert.Nil(t, program(t, page.Source{Name: "p", Events: made(3, "x")}).Cases())
}

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
