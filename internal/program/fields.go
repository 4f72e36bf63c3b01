package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// part is a key that a mapping may have, with what reads its value.
type part struct {
	key string
	set func(value) error
}

func indexOf(parts []part, key string) int {
	return slices.IndexFunc(parts, func(one part) bool { return one.key == key })
}

// fault is an error at another line than its key's.
type fault struct {
	line int
	error
}

// at places an error, unless it has its place already.
func at(line int, err error) fault {
	if found, placed := errors.AsType[fault](err); placed {
		line = found.line
	}
	return fault{line, err}
}

// readFields reads the frontmatter, and reports all that is wrong with it.
func (p *Program) readFields(fields []field) {
	var parts []part
	for _, key := range p.keys() {
		parts = append(parts, key.part())
	}
	for i, f := range fields {
		if f.placeholder() && indexOf(parts, f.key) >= 0 {
			p.placeholder(f.line)
		} else if err := p.readField(fields[:i], f, "", parts); err != nil {
			wrong := at(f.line, err)
			p.fail(wrong.line, "%v", wrong)
		}
	}
	p.conclude(fields)
}

// readParts reads a mapping that belongs to a key, up to its first error; of says what it is.
func (p *Program) readParts(v value, of string, parts ...part) error {
	fields := v.fields()
	for i, f := range fields {
		if err := p.readField(fields[:i], f, of, parts); err != nil {
			return err
		}
	}
	return nil
}

// readField reads one key of a mapping, after those before it.
func (p *Program) readField(before []field, f field, of string, parts []part) error {
	if i := indexOfField(before, f.key); i >= 0 {
		return fault{f.line, fmt.Errorf("key `%s` is given twice (`%s` on line %d); keep one", clip(f.name),
			clip(before[i].name), before[i].line)}
	}
	known := indexOf(parts, f.key)
	if known < 0 {
		p.unknown(f, of, parts)
		return nil
	}
	if err := parts[known].set(f.value); err != nil {
		return fault{at(f.line, err).line, fmt.Errorf("`%s`: %w", f.name, err)}
	}
	return nil
}

func indexOfField(fields []field, key string) int {
	return slices.IndexFunc(fields, func(f field) bool { return f.key == key })
}

// placeholder reports whether the value, or an item of it, was not filled in.
func (v value) placeholder() bool {
	return v.isScalar() && isPlaceholder(strings.TrimSpace(v.Value)) ||
		slices.ContainsFunc(v.items(), value.placeholder)
}

// unknown takes a key that nothing reads. Where it can only be a known key misspelt
// that is an error: what it was to say would be lost without a word.
func (p *Program) unknown(f field, of string, parts []part) {
	var known []string
	for _, one := range parts {
		known = append(known, one.key)
	}
	if meant := nearest(f.key, known); meant != "" {
		p.fail(f.line, "there is no key `%s`%s; did you mean `%s`?", clip(f.name), of, meant)
		return
	}
	list := ""
	if of != "" {
		list = "; known are " + strings.Join(known, ", ")
	}
	p.warn(f.line, "unknown key `%s`%s is ignored%s", clip(f.name), of, list)
}

// nearest is the known key that another was meant for, "" for none: of a short one
// every third letter has to be right.
func nearest(key string, known []string) (best string) {
	key = strings.ToLower(clip(key))
	least := 3
	for _, one := range known {
		if d := Distance(key, one); d < least && d*3 <= len(key) {
			best, least = one, d
		}
	}
	return best
}

// Distance is how many letters to add, remove, change or exchange with their
// neighbour make b of a.
func Distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				cost++
			}
			rows[i][j] = min(cost, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
