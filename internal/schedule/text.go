package schedule

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/render"
)

// Write writes the plan to a file, whole or not at all.
func (p *Plan) Write(file string) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return files.WriteFile(file, append(text, '\n'), 0o644)
}

// Text says what was selected, and why the others were not, of those that only wait for their
// time the first few; warnings are left out.
func (p *Plan) Text() string {
	var out strings.Builder
	fmt.Fprintln(&out, p.Headline())
	if len(p.Deferred) > 0 {
		fmt.Fprintf(&out, "due later: %s\n", render.Few(p.Deferred))
	}
	const most = 20
	waiting := 0
	for _, skipped := range p.Skipped {
		when := ""
		if skipped.Reason == string(NotDue)+" yet" {
			if waiting++; waiting > most {
				continue
			}
			if skipped.NextDue != nil {
				when = " (in " + render.Minutes(skipped.NextDue.Sub(p.GeneratedAt).Minutes()) + ")"
			}
		}
		fmt.Fprintf(&out, "skipped: %s: %s%s\n", skipped.Name, skipped.Reason, when)
	}
	if waiting > most {
		fmt.Fprintf(&out, "skipped: %d more that are not due yet\n", waiting-most)
	}
	for _, name := range p.Unconfigured {
		fmt.Fprintf(&out, "unconfigured: %s: replace its placeholders\n", name)
	}
	for _, failure := range p.Errors {
		fmt.Fprintf(&out, "error: %s: %s\n", failure.Name, failure.Problem())
	}
	return out.String()
}
