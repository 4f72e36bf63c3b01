package git

import "strings"

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
	last := ""
	for line := range strings.SplitSeq(strings.TrimSpace(paragraphs[len(paragraphs)-1]), "\n") {
		if last != "" && (strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")) {
			trailers[last] += " " + strings.TrimSpace(line)
			continue
		}
		key, value, found := strings.Cut(line, ":")
		if !found || !isTrailerKey(key) {
			return map[string]string{}
		}
		last = key
		trailers[key] = strings.TrimSpace(value)
	}
	return trailers
}

func isTrailerKey(key string) bool {
	if key == "" {
		return false
	}
	for _, c := range key {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}
