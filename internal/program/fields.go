package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

func (p *Program) readFields(head header) {
	for i, f := range head.fields {
		if before := slices.IndexFunc(head.fields[:i], func(g field) bool { return g.key == f.key }); before >= 0 {
			p.fail(f.line, "key `%s` is given twice (`%s` on line %d); keep one", clip(f.name), clip(head.fields[before].name), head.fields[before].line)
			continue
		}
		p.readField(f)
	}
	p.conclude(head.fields)
}

func (p *Program) readField(f field) {
	known, found := entryOf[f.key]
	if !found {
		p.warn(f.line, "unknown key `%s` is ignored%s", clip(f.name), nearest(f.key))
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
	return v.kind == scalar && isPlaceholder(strings.TrimSpace(v.text)) || slices.ContainsFunc(v.items, value.placeholder)
}

// nearest suggests the known key that an unknown one was meant for.
func nearest(key string) string {
	key = strings.ToLower(clip(key))
	best, least := "", 3
	for known := range entryOf {
		if d := Distance(key, known); d < least || d == least && best != "" && known < best {
			best, least = known, d
		}
	}
	if best == "" || least*3 > len(key) {
		return ""
	}
	return fmt.Sprintf("; did you mean `%s`?", best)
}
