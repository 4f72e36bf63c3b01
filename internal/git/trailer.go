package git

import (
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// Trailers reads the "Key: value" lines of the message's last paragraph, by
// key; of a key that is there more than once the last line counts. A paragraph
// in which any other line occurs has no trailers, and so has a message of one
// paragraph.
func (c Commit) Trailers() map[string]string {
	trailers := map[string]string{}
	paragraphs := strings.Split(strings.TrimSpace(strings.ReplaceAll(c.Message, "\r\n", "\n")), "\n\n")
	if len(paragraphs) < 2 {
		return trailers
	}
	last := continued().ReplaceAllString(strings.TrimSpace(paragraphs[len(paragraphs)-1]), " ")
	for line := range strings.SplitSeq(last, "\n") {
		found := trailer().FindStringSubmatch(line)
		if found == nil {
			return map[string]string{}
		}
		trailers[found[1]] = strings.TrimSpace(found[2])
	}
	return trailers
}

var (
	trailer   = lazyregexp.New(`^([A-Za-z0-9-]+):(.*)$`)
	continued = lazyregexp.New(`[ \t]*\n[ \t]+`) // a line that goes on with the one before
)
