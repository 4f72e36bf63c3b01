package page

import (
	"fmt"
	"strings"
)

// colours are those of a picture that stands alone, as style.css has them.
func colours(dark bool) map[string]string {
	if dark {
		return map[string]string{
			"page": "#0d1117", "quiet": "#9aa4af", "line": "#30363d", "kept": "#56d364", "rejected": "#8b949e",
			"error": "#ff8580", "pending": "#e3b341", "best": "#79b8ff", "target": "#d2a8ff",
		}
	}
	return map[string]string{
		"page": "#fff", "quiet": "#57606a", "line": "#d0d7de", "kept": "#116329", "rejected": "#6e7781",
		"error": "#b3261e", "pending": "#8a5a00", "best": "#0a58ca", "target": "#8250df",
	}
}

// pictureStyle draws the trajectory where style.css is not.
const pictureStyle = `path{fill:none}text{fill:quiet;font:12px system-ui,sans-serif}.grid{stroke:line;stroke-width:.6}.best{stroke:best;stroke-width:2}` +
	`.baseline{stroke:quiet;stroke-dasharray:2 4}.target{stroke:target;stroke-dasharray:7 4}text.target{fill:target;stroke:none}text.baseline{stroke:none}` +
	`.break{stroke:quiet;stroke-dasharray:1 3}.interval{stroke:rejected;opacity:.55}.points{stroke-linecap:round;stroke-width:5.5}.points.kept{stroke:kept;stroke-width:9}` +
	`.points.rejected{stroke:rejected}.points.error{stroke:error;stroke-width:1.6}.points.pending{stroke:pending;stroke-width:1.8}.points.beyond{fill:rejected}`

// Picture is the trajectory as an image of its own, for the light or the dark
// scheme: an SVG without a script, which fetches nothing.
func (p *Program) Picture(dark bool) []byte {
	colours := colours(dark)
	var pairs []string
	for name, colour := range colours {
		pairs = append(pairs, ":"+name+";", ":"+colour+";", ":"+name+"}", ":"+colour+"}")
	}
	style := strings.NewReplacer(pairs...).Replace(pictureStyle)
	svg := string(trajectory(p))
	at := strings.Index(svg, ">")
	return fmt.Appendf(nil, `%s xmlns="http://www.w3.org/2000/svg"><style>%s</style><rect width="100%%" height="100%%" fill="%s"/>%s`, svg[:at], style, colours["page"], svg[at+1:])
}

// PictureFile is the name of Picture beside the program's page.
func (p *Program) PictureFile(dark bool) string { return PictureFile(p.Name, dark) }

// File is the name of a program's page in a directory of pages.
func File(name string) string { return anchor(name) + ".html" }

// PictureFile is the name of a program's picture in a directory of pages.
func PictureFile(name string, dark bool) string {
	if dark {
		return anchor(name) + "-dark.svg"
	}
	return anchor(name) + ".svg"
}
