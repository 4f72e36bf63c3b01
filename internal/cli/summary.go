package cli

import (
	"errors"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
)

// deliver prints the results of a run, a JSON array or a table and what a person should
// know besides, and tells GitHub Actions of them.
func (a *App) deliver(p *program.Program, results []loop.Result) error {
	text, results := "", append([]loop.Result{}, results...)
	if len(results) > 0 {
		text = colored(a.Env, resultTable(results).Fit(a.TableWidth()).String()) + notes(results)
	}
	err := a.print(results, text)
	if !a.JSON {
		for _, warning := range warnings(results) {
			a.warn(plain.Line(warning))
		}
	}
	dir, failed := a.outputDir()
	if failed == nil {
		failed = a.Actions().ReportRun(p, results, dir)
	}
	return errors.Join(err, failed)
}

// Colours of a terminal.
const (
	green      = "\x1b[32m"
	yellow     = "\x1b[33m"
	red        = "\x1b[31m"
	plainColor = "\x1b[0m"
)

// painted are the words that are coloured, between what is around them: the outcome in a row of
// a table, behind the iteration and perhaps its time, and the verdict on a comparison or at the
// end of a row.
var painted = lazyregexp.New(`(?m)^( *\d+  (?:\d{4}-\d\d-\d\d \d\d:\d\d  )?)(kept|not kept|error)( |$)|` +
	`(^|  )(improved|neutral|regressed|missing)(:|$)`)

// colored paints outcomes and verdicts on a terminal.
func colored(env Env, text string) string {
	if !env.Color() {
		return text
	}
	paint := map[string]string{
		"kept": green, "not kept": yellow, "error": red,
		"improved": green, "neutral": yellow, "regressed": red, "missing": red,
	}
	return painted().ReplaceAllStringFunc(text, func(cell string) string {
		p := painted().FindStringSubmatch(cell)
		word := p[2] + p[5]
		return p[1] + p[4] + paint[word] + word + plainColor + p[3] + p[6]
	})
}
