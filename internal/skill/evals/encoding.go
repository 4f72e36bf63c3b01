package evals

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
)

var declaredEncoding = lazyregexp.New(`^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"']*)["']`)

// decodeXML makes UTF-8 of a document in one of the encodings that XML files are
// found in: the one of its byte order mark, else the one that it declares.
func decodeXML(data []byte) ([]byte, error) {
	for _, mark := range [][]byte{{0xff, 0xfe}, {0xfe, 0xff}} {
		if bytes.HasPrefix(data, mark) {
			return unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder().Bytes(data)
		}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	name := "UTF-8"
	if found := declaredEncoding().FindSubmatch(data); found != nil {
		name = string(found[1])
	}
	var from encoding.Encoding
	switch strings.ToLower(name) {
	case "utf-8", "utf8", "us-ascii", "ascii", "":
		if !utf8.Valid(data) {
			return nil, fmt.Errorf("is not %s; save it so, or declare its encoding in the first line", plain.Short(name, document.MaxShown))
		}
		return data, nil
	case "iso-8859-1", "latin1", "latin-1":
		from = charmap.ISO8859_1
	case "iso-8859-15", "latin-9":
		from = charmap.ISO8859_15
	case "windows-1252", "cp1252":
		from = charmap.Windows1252
	default:
		return nil, fmt.Errorf("is written in %s, which is not read; save it as UTF-8", plain.Short(name, document.MaxShown))
	}
	return from.NewDecoder().Bytes(data)
}
