package page

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"time"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
)

// maxEvidence bounds a text of a grader or a judge, in runes.
const maxEvidence = 600

// writeReport writes a page that needs no script.
func writeReport(w io.Writer, name string, data any) error {
	style, err := assets.ReadFile("assets/style.css")
	if err != nil {
		return fmt.Errorf("read the page's style: %w", err)
	}
	functions := functions(view{Site: &Site{}})
	functions["style"] = func() template.HTML {
		return template.HTML("<style>" + string(style) + "</style>") //nolint:gosec // our own file
	}
	functions["policy"] = func() string {
		return "default-src 'none'; style-src " + source(style) + "; img-src data:; base-uri 'none'; form-action 'none'"
	}
	functions["page"] = func(title string, generated time.Time) any {
		return struct {
			Title     string
			Generated time.Time
		}{title, generated}
	}
	functions["pair"] = func(name string, side TaskSide) any {
		return struct {
			Name string
			Side TaskSide
		}{name, side}
	}
	functions["plain"] = func(v any) string { return clip(fmt.Sprint(v), maxEvidence) }
	functions["value"] = func(v *metric.Value) string { return render.Figure(v) }
	pages, err := template.New(name).Funcs(functions).ParseFS(assets, "assets/report/*.html")
	if err != nil {
		return fmt.Errorf("read the page's template: %w", err)
	}
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}
