package page_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/render/page"
)

func TestReportAsAPage(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, page.View{
		Title: "</title><script>", Body: "<h1>s: stuck</h1>", Site: &page.Site{Generated: noon},
	}.Write(&b))
	assert.Contains(t, b.String(), "<title>&lt;/title&gt;&lt;script&gt; · Autoloop</title>")
	assert.Contains(t, b.String(), `<main class="report"><h1>s: stuck</h1></main>`)
}
