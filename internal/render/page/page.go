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
	"time"
)

//go:embed assets assets/report
var assets embed.FS

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
	Style, Script template.HTML
	Policy        string
	// Live is a page that a server keeps up to date.
	Live, Overview bool
	Shown          []*Program
	Attention      int
	// Data is the compressed rows of the programs that are shown.
	Data string
	// Link turns a program into the address of its page.
	Link func(*Program) string
	// Home is the address of the overview.
	Home string
	// rows is how many iterations of each program are shown without scripts.
	rows int
	// rendered are the rows of the iterations, which the data has as well.
	rendered map[*Iteration]template.HTML
}

// WriteSingle writes one HTML file with the overview and every program.
func (s *Site) WriteSingle(w io.Writer) error {
	return s.write(w, view{Overview: true, Shown: s.Programs, Home: "#overview", Link: func(p *Program) string { return "#" + p.ID }})
}

// WriteLive is WriteSingle for a server that tells the page of changes.
func (s *Site) WriteLive(w io.Writer) error {
	return s.write(w, view{
		Live: true, Overview: true, Shown: s.Programs, Home: "#overview", Link: func(p *Program) string { return "#" + p.ID },
	})
}

// WriteOverview writes the start page of a directory of pages; Program.File
// names the page of each program.
func (s *Site) WriteOverview(w io.Writer) error {
	return s.write(w, view{Overview: true, Home: "#overview", Link: func(p *Program) string { return p.File() }})
}

// WriteProgram writes the page of one program of a directory of pages.
func (s *Site) WriteProgram(w io.Writer, p *Program) error {
	return s.write(w, view{Shown: []*Program{p}, Home: "index.html", Link: func(p *Program) string { return p.File() }})
}

// States counts how the programs stand, most frequent first.
func (s *Site) States() []Share {
	counts := map[string]int{}
	for _, p := range s.Programs {
		counts[p.State]++
	}
	return shares(counts, len(s.Programs))
}

func (s *Site) write(w io.Writer, v view) error {
	style, err := assets.ReadFile("assets/style.css")
	if err != nil {
		return fmt.Errorf("read the page's style: %w", err)
	}
	script, err := assets.ReadFile("assets/page.js")
	if err != nil {
		return fmt.Errorf("read the page's script: %w", err)
	}
	v.rendered = map[*Iteration]template.HTML{}
	v.Site, v.rows = s, min(max(allStatic/max(len(v.Shown), 1), 5), maxStatic)
	pages, err := template.New("page.html").Funcs(functions(v)).ParseFS(assets, "assets/*.html")
	if err != nil {
		return fmt.Errorf("read the page's template: %w", err)
	}
	v.Style, v.Script = template.HTML("<style>"+string(style)+"</style>"), template.HTML("<script>"+string(script)+"</script>") //nolint:gosec // our own files
	v.Policy = fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; img-src data:; base-uri 'none'; form-action 'none'", source(style), source(script))
	if v.Live {
		v.Policy += "; connect-src 'self'"
	}
	for _, p := range s.Programs {
		if p.Attention {
			v.Attention++
		}
	}
	if v.Data, err = v.pack(pages); err != nil {
		return err
	}
	if err := pages.Execute(w, v); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// source is what a Content-Security-Policy calls an inline style or script.
func source(content []byte) string {
	sum := sha256.Sum256(content)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// row is one iteration in the page's data: what filters, sorting and the
// chart's cursor need, and its table row as HTML.
type row struct {
	Number  int       `json:"n"`
	Outcome string    `json:"o"`
	Point   []float64 `json:"p,omitempty"`
	Text    string    `json:"t"`
	HTML    string    `json:"h"`
	CSV     []string  `json:"c"`
}

// pack renders the rows of all iterations, newest first, and compresses them one by one.
func (v *view) pack(pages *template.Template) (string, error) {
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.DefaultCompression)
	if err == nil {
		err = v.writeRows(zip, pages)
	}
	if err == nil {
		err = zip.Close()
	}
	if err != nil {
		return "", fmt.Errorf("compress the page's data: %w", err)
	}
	// The alphabet for addresses has nothing that a template would escape.
	return base64.RawURLEncoding.EncodeToString(packed.Bytes()), nil
}

// writeRows writes a JSON object with a list of rows for each program.
func (v *view) writeRows(w io.Writer, pages *template.Template) error {
	out := &listWriter{Writer: w}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	var html bytes.Buffer
	out.text("{")
	for n, p := range v.Shown {
		name, err := json.Marshal(p.ID)
		if err != nil {
			return fmt.Errorf("write %s: %w", p.Name, err)
		}
		out.between(n)
		out.text(string(name) + ":[")
		for i := range p.Iterations {
			it := p.Iterations[len(p.Iterations)-1-i]
			html.Reset()
			if err := pages.ExecuteTemplate(&html, "iteration", it); err != nil {
				return fmt.Errorf("write iteration %d of %s: %w", it.Number, p.Name, err)
			}
			text := html.String()
			if i < v.rows {
				v.rendered[it] = template.HTML(text) //nolint:gosec // the template made it
			}
			out.between(i)
			if err := encoder.Encode(row{
				it.Number, string(it.Outcome), it.Point, fmt.Sprintf("%d, %s, %s", it.Number, it.Label(), it.Measured()), text, it.csv(),
			}); err != nil {
				return fmt.Errorf("write iteration %d of %s: %w", it.Number, p.Name, err)
			}
		}
		out.text("]")
	}
	out.text("}")
	return out.err
}

// listWriter writes the parts of JSON that are between values, and keeps the first
// error.
type listWriter struct {
	io.Writer
	err error
}

func (w *listWriter) text(text string) {
	if w.err == nil {
		_, w.err = io.WriteString(w.Writer, text)
	}
}

// between separates the value i, from 0, from the one before.
func (w *listWriter) between(i int) {
	if i > 0 {
		w.text(",")
	}
}

func functions(v view) template.FuncMap {
	return template.FuncMap{
		"link":     func(p *Program) template.URL { return template.URL(v.Link(p)) }, //nolint:gosec // a file name or anchor made by us
		"stamp":    stamp,
		"rendered": func(it *Iteration) template.HTML { return v.rendered[it] },
		"sortable": sortable,
		"percent":  func(share float64) string { return coordinate(min(max(100*share, 0), 100)) },
		"over":     func(share float64) bool { return share >= 1 },
		"day":      func(t time.Time) string { return day(t, v.Generated) },
		"recent": func(list []*Iteration) []*Iteration {
			var rows []*Iteration
			for i := len(list) - 1; i >= 0 && len(rows) < v.rows; i-- {
				rows = append(rows, list[i])
			}
			return rows
		},
		"older": func(list []*Iteration) string {
			if len(list) <= v.rows {
				return ""
			}
			return fmt.Sprintf("The latest %d of %d iterations. Scripts show the others.", v.rows, len(list))
		},
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
