package tuner

import "bytes"

// File is a target file with the numbers that it marks.
type File struct {
	Path  string // with slashes, from the tree's root
	Text  []byte
	Marks []Mark
}

// ParseFile finds the marks of a file. The error is a *MarkError.
func ParseFile(path string, text []byte) (File, error) {
	marks, err := scanMarks(path, text)
	return File{path, text, marks}, err
}

// Rewrite returns the file's text with only the marked numbers changed that
// have a new value.
func (f File) Rewrite(values map[string]float64) []byte {
	out := make([]byte, 0, len(f.Text)+64)
	from := 0
	for _, mark := range f.Marks {
		value, ok := values[mark.name]
		if !ok || value == mark.literal.value {
			continue
		}
		out = append(out, f.Text[from:mark.literal.start]...)
		text := mark.literal.render(value, mark.param.Int)
		if text[0] == '-' && !takesSign(out) {
			out = append(out, ' ') // a - -1, where a--1 would not compile
		}
		out = append(out, text...)
		from = mark.literal.end
	}
	return append(out, f.Text[from:]...)
}

// takesSign reports whether a minus after text would be read as a sign.
func takesSign(text []byte) bool {
	line := string(text[bytes.LastIndexByte(text, '\n')+1:]) + "-"
	return signBefore(line, len(line)) != 0
}
