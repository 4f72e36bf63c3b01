// Package page draws what the records of programs say as HTML that a browser
// shows from a file: without a server, without the network and, but for
// filters and older iterations, without scripts. It does no I/O. Text from
// agents, evaluations and issues is escaped by html/template.
package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"

	"github.com/org/autoloop/internal/render"
)

//go:embed assets/*.html assets/report/*.html
var assets embed.FS

//go:embed assets/style.css
var style string

//go:embed assets/page.js
var script string

// A page shows the latest iterations without scripts, at most maxStatic of one
// program and, where it holds several programs, about allStatic in all. Older
// ones are in the page's compressed data.
const (
	maxStatic = 50
	allStatic = 200
)

// Site is everything that the page shows.
type Site struct {
	Generated time.Time
	// Version is the version of Autoloop that made the page.
	Version  string
	Programs []*Program
}

// view is what the template renders: the overview and some programs.
type view struct {
	*Site
	// Live is a page that a server keeps up to date.
	Live, Overview bool
	Shown          []*Program
	// Data is the compressed rows of the programs that are shown.
	Data string
	// Link turns a program into the address of its page.
	Link func(*Program) string
	// rows is how many iterations of each program are shown without scripts.
	rows int
}

// WriteSingle writes one HTML file with the overview and every program.
func (s *Site) WriteSingle(w io.Writer) error {
	return s.write(w, view{Overview: true, Shown: s.Programs, Link: (*Program).anchor})
}

// WriteLive is WriteSingle for a server that tells the page of changes.
func (s *Site) WriteLive(w io.Writer) error {
	return s.write(w, view{Overview: true, Shown: s.Programs, Link: (*Program).anchor, Live: true})
}

// WriteOverview writes the start page of a directory of pages; Program.File
// names the page of each program.
func (s *Site) WriteOverview(w io.Writer) error {
	return s.write(w, view{Overview: true, Link: (*Program).File})
}

// WriteProgram writes the page of one program of a directory of pages.
func (s *Site) WriteProgram(w io.Writer, p *Program) error {
	return s.write(w, view{Shown: []*Program{p}, Link: (*Program).File})
}

// States counts how the programs stand, most frequent first.
func (s *Site) States() []Share {
	counts := map[string]int{}
	for _, p := range s.Programs {
		counts[p.State]++
	}
	return shares(counts, len(s.Programs))
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

func (s *Site) write(w io.Writer, v view) (err error) {
	v.Site, v.rows = s, min(max(allStatic/max(len(v.Shown), 1), 5), maxStatic)
	pages := v.templates()
	if v.Data, err = v.pack(pages); err != nil {
		return err
	}
	return execute(w, pages, "page.html", &v)
}

// Home is the address of the overview.
func (v *view) Home() string {
	if v.Overview {
		return "#overview"
	}
	return "index.html"
}

// templates are those of all pages.
func (v *view) templates() *template.Template {
	return template.Must(template.New("").Funcs(functions(v)).ParseFS(assets, "assets/*.html", "assets/report/*.html"))
}

func execute(w io.Writer, pages *template.Template, name string, data any) error {
	if err := pages.ExecuteTemplate(w, name, data); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// policy is the Content-Security-Policy of a page, in which a script is ours alone.
func policy(scripted, live bool) string {
	source := func(content string) string {
		sum := sha256.Sum256([]byte(content))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	text := "default-src 'none'; style-src " + source(style) + "; img-src data:; base-uri 'none'; form-action 'none'"
	if scripted {
		text += "; script-src " + source(script)
	}
	if live {
		text += "; connect-src 'self'"
	}
	return text
}

// row is one iteration in the page's data: what filters, sorting and the
// chart's cursor need, and its table row as HTML.
type row struct {
	Program string    `json:"id"`
	Number  int       `json:"n"`
	Outcome string    `json:"o"`
	Point   []float64 `json:"p,omitempty"`
	Text    string    `json:"t"`
	HTML    string    `json:"h"`
	CSV     []string  `json:"c"`
}

// pack renders the rows of all iterations, newest first and a line each, and
// compresses them one by one.
func (v *view) pack(pages *template.Template) (string, error) {
	var packed, html bytes.Buffer
	zip := gzip.NewWriter(&packed)
	encoder := json.NewEncoder(zip)
	encoder.SetEscapeHTML(false)
	for _, p := range v.Shown {
		for _, it := range slices.Backward(p.Iterations) {
			html.Reset()
			if err := execute(&html, pages, "iteration", it); err != nil {
				return "", err
			}
			text := fmt.Sprintf("%d, %s, %s", it.Iteration, it.Label(), it.Measured())
			one := row{p.ID, it.Iteration, string(it.Outcome), it.Point, text, html.String(), it.csv()}
			if err := encoder.Encode(one); err != nil {
				return "", fmt.Errorf("compress iteration %d of %s: %w", it.Iteration, p.Name, err)
			}
		}
	}
	if err := zip.Close(); err != nil {
		return "", fmt.Errorf("compress the page's data: %w", err)
	}
	// The alphabet for addresses has nothing that a template would escape.
	return base64.RawURLEncoding.EncodeToString(packed.Bytes()), nil
}

func functions(v *view) template.FuncMap {
	return template.FuncMap{
		"style": func() template.HTML {
			return template.HTML("<style>" + style + "</style>")
		}, //nolint:gosec // our own file
		"script": func() template.HTML {
			return template.HTML("<script>" + script + "</script>")
		}, //nolint:gosec // our own file
		"policy": policy,
		"link": func(p *Program) template.URL {
			return template.URL(
				v.Link(p))
		}, //nolint:gosec // a file name or anchor made by us
		"stamp":    stamp,
		"sortable": sortable,
		"percent":  func(share float64) string { return coordinate(min(max(100*share, 0), 100)) },
		"over":     func(share float64) bool { return share >= 1 },
		"day":      func(t time.Time) string { return day(t, v.Generated) },
		"recent": func(list []*Iteration) []*Iteration {
			rows := slices.Clone(list[max(len(list)-v.rows, 0):])
			slices.Reverse(rows)
			return rows
		},
		"older": func(list []*Iteration) string {
			if len(list) <= v.rows {
				return ""
			}
			return fmt.Sprintf("The latest %d of %d iterations. Scripts show the others.", v.rows, len(list))
		},
		"page": func(title string, generated time.Time) any {
			return map[string]any{"Title": title, "Generated": generated}
		},
		"pair":      func(name string, side TaskSide) any { return map[string]any{"Name": name, "Side": side} },
		"plain":     func(v any) string { return clip(fmt.Sprint(v), maxEvidence) },
		"figure":    render.Figure,
		"strip":     strip,
		"sparkline": sparkline,
		"costChart": costChart,
		"notes":     newestFirst,
		"signed":    render.Signed,
		"rounded":   func(v any) string { return render.Rounded(fmt.Sprint(v))[0] },
	}
}

// sortable is a time as text that sorts; "" for none.
func sortable(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// day is a time without the year where that is the present one.
func day(t, now time.Time) string {
	if t.IsZero() || t.UTC().Year() != now.UTC().Year() {
		return stamp(t)
	}
	return t.UTC().Format("Jan 2, 15:04")
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "—"
	}
	return t.UTC().Format("2006-01-02 15:04")
}
