// Package page draws what the records of programs say as HTML that a browser
// shows from a file: without a server, without the network and, but for
// filters, without scripts. It does no I/O. Text from agents, evaluations and
// issues is escaped by html/template.
package page

import (
	"crypto/sha256"
	_ "embed" // for the files of the page
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/render"
)

//go:embed assets/page.html
var layout string

//go:embed assets/style.css
var style string

//go:embed assets/page.js
var script string

// maxShown bounds the iterations in one file, leastShown those of a program in a file
// of many: the chart has them all, and `iterate log` lists them.
const (
	maxShown   = 2000
	leastShown = 10
)

// Site is everything that the page shows.
type Site struct {
	Generated time.Time
	// Version is the version of Autoloop that made the page.
	Version  string
	Programs []*Program
}

// View is one HTML file: the overview, some programs, or both; or a report on a skill or of a
// comparison, which says what its text does.
type View struct {
	*Site
	// Live is a page that a server keeps up to date.
	Live, Overview bool
	Shown          []*Program
	// Body is the HTML of a report that render made, under a title.
	Title string
	Body  template.HTML
}

// Write writes the file. File names the page of each program that it does not show.
func (v View) Write(w io.Writer) error {
	if err := template.Must(template.New("").Funcs(v.functions()).Parse(layout)).Execute(w, &v); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// States counts how the programs stand, most frequent first.
func (s *Site) States() []Share {
	return shares(s.Programs, func(p *Program) string { return p.State })
}

// Attention counts the programs that wait for a person.
func (s *Site) Attention() int {
	count := 0
	for _, p := range s.Programs {
		if p.Attention {
			count++
		}
	}
	return count
}

// link is the address of a program.
func (v View) link(p *Program) string {
	if len(v.Shown) > 0 {
		return "#" + p.ID
	}
	return File(p.Name)
}

// recent are the iterations of a program that are listed, the latest first.
func (v View) recent(p *Program) []*Iteration {
	rows := max(maxShown/max(len(v.Shown), 1), leastShown)
	list := slices.Clone(p.Iterations[max(len(p.Iterations)-rows, 0):])
	slices.Reverse(list)
	return list
}

// policy is the Content-Security-Policy of a page, in which a script is ours alone.
func policy(live bool) string {
	source := func(content string) string {
		sum := sha256.Sum256([]byte(content))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	text := "default-src 'none'; style-src " + source(style) + "; script-src " + source(script) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
	if live {
		text += "; connect-src 'self'"
	}
	return text
}

func (v View) functions() template.FuncMap {
	return template.FuncMap{
		"style": func() template.HTML {
			return template.HTML("<style>" + style + "</style>") //nolint:gosec // our own file
		},
		"script": func() template.HTML {
			return template.HTML("<script>" + script + "</script>") //nolint:gosec // our own file
		},
		"policy": policy,
		"link":   v.link, "recent": v.recent,
		"stamp": stamp, "sortable": sortable,
		"percent": func(share float64) string { return coordinate(min(max(100*share, 0), 100)) },
		"plain":   func(v any) string { return clip(fmt.Sprint(v), maxEvidence) },
		"figure":  render.Figure, "strip": strip, "words": words, "joined": decision.Joined,
	}
}

// sortable is a time as text that sorts; "" for none.
func sortable(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// stamp is a time for people; "—" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "—"
	}
	return t.UTC().Format("2006-01-02 15:04")
}
