package tests

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
)

// The pages that people write are run: tutorials, how-tos, explanations and the
// reference but for its generated pages. What a block of code is for is said
// behind the language of its fence:
//
//	sh              lines that begin with `$ ` are run in bash, in order, in one
//	                directory that is empty at first; the lines below each are what it
//	                prints, with its standard error when it fails
//	… file=PATH     the block is written to this file
//	… program       the block is frontmatter of a program, and its keys are good
//	… text          the block is not for a machine
//	… test=NAME     another test runs the block
//	… skip="WHY"    nothing runs it here; its commands and flags exist
//
// In what is printed `…` stands for anything within a line, and on a line of its
// own for any lines; a run of blanks equals any other. A page with the line
// `<!-- after: PAGE -->` begins where the blocks of that page end.
//
// With DOCS=write in the environment the pages get what is printed now.

// docBlock is a block of code of a page.
type docBlock struct {
	// info is the fence's line without the backticks, text what is between.
	info, text string
	// from and to are the place of text in the page.
	from, to int
}

// attribute is the value of NAME=VALUE in the line of a fence.
func (b docBlock) attribute(name string) string {
	found := regexp.MustCompile(`(?:^| )` + name + `=(?:"([^"]*)"|(\S+))`).FindStringSubmatch(b.info)
	if found == nil {
		return ""
	}
	return found[1] + found[2]
}

// docBlocks are the blocks of a page, in order.
func docBlocks(page string) []docBlock {
	var blocks []docBlock
	fence, at := "", 0
	for line := range strings.Lines(page) {
		trimmed := strings.TrimRight(line, "\n")
		ticks := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
			blocks = append(blocks, docBlock{info: strings.TrimSpace(trimmed[len(ticks):]), from: at + len(line)})
		case fence != "" && trimmed == fence:
			fence = ""
			last := &blocks[len(blocks)-1]
			last.to, last.text = at, page[last.from:at]
		}
		at += len(line)
	}
	return blocks
}

// docCommand is a command and what a page says that it prints.
type docCommand struct{ line, prints string }

// docCommands are the commands of a block of sh.
func docCommands(text string) []docCommand {
	var list []docCommand
	for line := range strings.Lines(text) {
		if command, found := strings.CutPrefix(line, "$ "); found {
			list = append(list, docCommand{line: strings.TrimSuffix(command, "\n")})
		} else if len(list) > 0 {
			list[len(list)-1].prints += line
		}
	}
	return list
}

// asDocumented reports whether what was printed is what a page says.
func asDocumented(says, printed string) bool {
	blanks := regexp.MustCompile(`[ \t]+`)
	tidy := func(text string) string {
		lines := strings.Split(strings.TrimSpace(blanks.ReplaceAllString(text, " ")), "\n")
		for i := range lines {
			lines[i] = strings.TrimSpace(lines[i])
		}
		return strings.Join(lines, "\n")
	}
	pattern := regexp.QuoteMeta(tidy(says))
	pattern = regexp.MustCompile(`(?m)^…\n`).ReplaceAllString(pattern, `(?:.*\n)*`)
	pattern = regexp.MustCompile(`(?m)\n…$`).ReplaceAllString(pattern, `(?:\n.*)*`)
	pattern = strings.ReplaceAll(pattern, "…", `.*`)
	return regexp.MustCompile(`^` + pattern + `$`).MatchString(tidy(printed))
}

// varies is what no two runs print alike.
var varies = regexp.MustCompile(
	`\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?Z?|\b\d\d-\d\d \d\d:\d\d\b|\b\d{8}T\d{6}Z-[0-9a-f]+|\b[0-9a-f]{7,` +
		`40}\b|\b\d+(?:\.\d+)?(?:s| s| min)\b`)

// TestDocsAreRun runs the pages.
func TestDocsAreRun(t *testing.T) {
	t.Parallel()
	starts := map[string]*docProject{
		"../docs/tutorial/first-program.md": {t: t},
		"../docs/tutorial/first-skill.md":   {t: t},
	}
	for page, start := range starts {
		start.begin()
		start.page(page)
	}
	tests := testNames(t)
	for _, page := range writtenPages(t) {
		if starts[page] != nil {
			continue
		}
		t.Run(strings.TrimPrefix(page, "../docs/"), func(t *testing.T) {
			t.Parallel()
			w := &docProject{t: t, tests: tests}
			data := readText(t, page)
			after := regexp.MustCompile(`(?m)^<!-- after: (\S+) -->$`).FindSubmatch([]byte(data))
			if after == nil {
				w.begin()
			} else {
				start := starts[filepath.Join(filepath.Dir(page), string(after[1]))]
				require.NotNil(t, start, "%s begins where no other page may", page)
				w.home = filepath.Join(t.TempDir(), "me")
				openWhenDone(t, filepath.Dir(w.home))
				t.Cleanup(func() { unlock(filepath.Dir(w.home)) })
				require.NoError(t, exec.CommandContext(t.Context(), "cp", "-a", start.home, w.home).Run())
			}
			w.page(page)
		})
	}
}

// writtenPages are the pages behind the four doors that are not generated.
func writtenPages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("../docs/*/*.md")
	require.NoError(t, err)
	var pages []string
	for _, page := range found {
		text := readText(t, page)
		if !bytes.HasPrefix([]byte(text), []byte("<!-- Generated: ")) {
			pages = append(pages, page)
		}
	}
	return pages
}

// docProject is somebody who follows a page.
type docProject struct {
	t     *testing.T
	home  string
	tests map[string]bool
}

// begin makes an empty home with an empty directory in it.
func (w *docProject) begin() {
	root := w.t.TempDir()
	openWhenDone(w.t, root)
	w.t.Cleanup(func() { unlock(root) })
	w.home = filepath.Join(root, "me")
	require.NoError(w.t, os.MkdirAll(filepath.Join(w.home, "project"), 0o755))
}

// page follows a page, and writes it anew where DOCS=write asks for it.
func (w *docProject) page(file string) {
	data := readText(w.t, file)
	text := data
	blocks := docBlocks(text)
	for i := range blocks {
		w.block(file, &blocks[i])
	}
	if os.Getenv("DOCS") != "write" {
		return
	}
	for i := len(blocks) - 1; i >= 0; i-- {
		text = text[:blocks[i].from] + blocks[i].text + text[blocks[i].to:]
	}
	require.NoError(w.t, os.WriteFile(file, []byte(text), 0o600))
}

func (w *docProject) block(page string, b *docBlock) {
	t := w.t
	language, _, _ := strings.Cut(b.info, " ")
	switch {
	case b.attribute("file") != "":
		file := filepath.Join(w.home, "project", b.attribute("file"))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(b.text), 0o600))
	case b.attribute("test") != "":
		assert.True(t, w.tests[b.attribute("test")], "%s: there is no %s", page, b.attribute("test"))
		w.flagsExist(page, b.text)
	case b.attribute("skip") != "":
		w.flagsExist(page, b.text)
	case strings.HasSuffix(b.info, " program"):
		p := program.Parse("p.md", []byte("---\n"+b.text+"---\n"))
		require.NoError(t, p.Err(), "%s: %s", page, b.text)
		assert.Empty(t, p.Warnings(), "%s: %s", page, b.text)
	case strings.HasSuffix(b.info, " text"):
	case language == "sh":
		written := ""
		for _, c := range docCommands(b.text) {
			printed := w.bash(c.line)
			if os.Getenv("DOCS") == "write" && !asDocumented(c.prints, printed) {
				c.prints = varies.ReplaceAllString(printed, "…")
			}
			require.NotContains(t, c.prints, "\n```", "%s: $ %s prints the end of a block", page, c.line)
			written += "$ " + c.line + "\n" + c.prints
			assert.True(t, asDocumented(c.prints, printed), "%s: $ %s\nsays:\n%s\nprints:\n%s", page, c.line,
				c.prints, printed)
		}
		require.NotEmpty(t, written, "%s: no line begins with `$ `:\n%s", page, b.text)
		b.text = written
	default:
		assert.Fail(t, "nothing runs this block", "%s: ```%s\n%s", page, b.info, b.text)
	}
}

// bash runs a line and returns what it prints, with what it says on standard
// error when it fails.
func (w *docProject) bash(line string) string {
	cmd := exec.CommandContext(w.t.Context(), "bash", "-c", line)
	cmd.Dir = filepath.Join(w.home, "project")
	for _, variable := range cleanEnviron(filepath.Dir(w.home), w.home) {
		name, value, _ := strings.Cut(variable, "=")
		switch name {
		case "AUTOLOOP_DIR", "SIDE":
			continue
		case "HOME":
			variable = "HOME=" + w.home
		case "PATH":
			variable = "PATH=" + binaries + string(os.PathListSeparator) + value
		}
		cmd.Env = append(cmd.Env, variable)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	printed := ""
	if err := cmd.Run(); err != nil {
		printed = stderr.String()
	}
	printed = strings.ReplaceAll(stdout.String()+printed, w.home, "/home/me")
	if printed != "" && !strings.HasSuffix(printed, "\n") {
		printed += "\n"
	}
	return printed
}

// flagsExist holds that each command of a block that is not run is there, with
// all of its flags.
func (w *docProject) flagsExist(page, text string) {
	text = regexp.MustCompile(`\\\n *`).ReplaceAllString(text, " ")
	command := regexp.MustCompile(
		`(?m)(?:^|[;&|(] *|run: |exec |\$ )(iterate|scheduler)((?: +[^ \n|;&)'"<>#]+|"[^"]*"|'[^']*')*)`)
	for _, found := range command.FindAllStringSubmatch(text, -1) {
		words, flags := []string{}, []string{}
		for _, word := range strings.Fields(found[2]) {
			flag, _, _ := strings.Cut(word, "=")
			switch {
			case strings.HasPrefix(word, "-"):
				flags = append(flags, flag)
			case len(flags) == 0 && regexp.MustCompile(`^[a-z]+$`).MatchString(word):
				words = append(words, word)
			}
		}
		help := w.bash(strings.Join(append(append([]string{found[1]}, words...), "--help"), " "))
		for _, flag := range flags {
			assert.Regexp(w.t, fmt.Sprintf(`(?m)^ +(-\w, )?%s\b|^ +%s, `, regexp.QuoteMeta(flag),
				regexp.QuoteMeta(flag)), help,
				"%s: %s", page, found[0])
		}
	}
}
