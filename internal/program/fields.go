package program

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

func (p *Program) readFields(head header) {
	for i, f := range head.fields {
		if before := slices.IndexFunc(head.fields[:i], func(g field) bool { return g.key == f.key }); before >= 0 {
			p.fail(f.line, "key `%s` is given twice (`%s` on line %d); keep one", clip(f.name),
				clip(head.fields[before].name), head.fields[before].line)
			continue
		}
		p.readField(f)
	}
	p.conclude(head.fields)
}

func (p *Program) readField(f field) {
	known, found := entryOf[f.key]
	if !found {
		p.unknown(f, "", slices.Sorted(maps.Keys(entryOf))...)
		return
	}
	if f.placeholder() {
		p.placeholder(f.line)
		return
	}
	err := known.set(p, f.value)
	if err == nil {
		return
	}
	line := f.line
	if at, ok := errors.AsType[fault](err); ok {
		line = at.line
	}
	p.fail(line, "`%s`: %v", f.name, err)
}

// placeholder reports whether the value, or an item of it, was not filled in.
func (v value) placeholder() bool {
	return v.kind == scalar && isPlaceholder(strings.TrimSpace(v.text)) ||
		slices.ContainsFunc(v.items, value.placeholder)
}

// unknown takes a key that nothing reads. Where it can only be a known key misspelt
// that is an error: what it was to say would be lost without a word.
func (p *Program) unknown(f field, of string, known ...string) {
	if meant := nearest(f.key, known); meant != "" {
		p.fail(f.line, "there is no key `%s`%s; did you mean `%s`?", clip(f.name), of, meant)
		return
	}
	if of != "" {
		of += " is ignored; known are " + strings.Join(known, ", ")
	} else {
		of = " is ignored"
	}
	p.warn(f.line, "unknown key `%s`%s", clip(f.name), of)
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
