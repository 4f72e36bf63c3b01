package plain_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/plain"
)

func TestPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"src/a b.txt": "src/a b.txt", "src/naïve.txt": "src/naïve.txt", "a\nb": `"a\nb"`, "a\tb": `"a\tb"`,
		"\x1b[31m": `"\x1b[31m"`,
		"\xff":     `"\xff"`, "a\u202eb": `"a\u202eb"`, "a\r": `"a\r"`,
	} {
		assert.Equal(t, want, plain.Path(path), "%q", path)
	}
}
