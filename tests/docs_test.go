package tests

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// docPages are the README and all pages below docs.
func docPages(t *testing.T) []string {
	t.Helper()
	pages := []string{"../README.md"}
	err := filepath.WalkDir("../docs", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".md") {
			pages = append(pages, path)
		}
		return err
	})
	require.NoError(t, err)
	require.Greater(t, len(pages), 20)
	return pages
}

var (
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	mdHeading  = regexp.MustCompile(`(?m)^#{1,6} (.*)$`)
	mdLink     = regexp.MustCompile(`\]\(([^)\s]*)\)|(?:src|srcset)="([^"]*)"`)
	// notInAnchors is what GitHub leaves out of a heading's anchor.
	notInAnchors = regexp.MustCompile(`[^\p{L}\p{N}\p{M}_ -]`)
)

// withoutCode is a page without its blocks of code.
func withoutCode(text string) string {
	out, fence := "", ""
	for line := range strings.Lines(text) {
		ticks := regexp.MustCompile("^ *(`{3,}|~{3,})").FindStringSubmatch(line)
		switch {
		case fence == "" && ticks != nil:
			fence = ticks[1]
		case fence != "" && strings.TrimSpace(line) == fence:
			fence = ""
		case fence == "":
			out += line
		}
	}
	return out
}

// anchors are the places of a page that a link can name, as GitHub makes them
// of its headings.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for _, heading := range mdHeading.FindAllStringSubmatch(withoutCode(text), -1) {
		plain := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(heading[1], "$1")
		names[strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(plain), ""), " ", "-")] = true
	}
	return names
}

// TestLinksOfTheDocumentation holds that every link within the repository leads to
// a file, and to a heading of it where it names one.
func TestLinksOfTheDocumentation(t *testing.T) {
	t.Parallel()
	pages := append(docPages(t), "../CONTRIBUTING.md", "../CHANGELOG.md", "../programs/README.md")
	links := 0
	for _, page := range pages {
		data, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, found := range mdLink.FindAllStringSubmatch(
			inlineCode.ReplaceAllString(withoutCode(string(data)), ""), -1) {
			link := found[1] + found[2]
			if strings.Contains(link, "://") {
				continue
			}
			links++
			file, anchor, named := strings.Cut(link, "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			text, err := os.ReadFile(target)
			if info, statErr := os.Stat(target); statErr == nil && info.IsDir() {
				continue
			}
			if assert.NoError(t, err, "%s links to %s", page, link) && named {
				assert.True(t, anchors(string(text))[anchor],
					"%s links to %s, and there is no such heading", page, link)
			}
		}
	}
	assert.Greater(t, links, 100)
}

// TestNamedPagesExist holds that every page of the documentation that code, scripts
// and workflows name is there.
func TestNamedPagesExist(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`\bdocs/[a-z/-]+\.md\b`)
	for _, dir := range []string{
		"../internal", "../cmd", "../workflows", "../.github", "../tests", "../programs",
		"../CHANGELOG.md", "../CONTRIBUTING.md", "../Dockerfile", "../.goreleaser.yml", "../action.yml",
	} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "testdata"):
				return filepath.SkipDir
			case entry.IsDir() || strings.Contains(path, "_test.go") && strings.HasPrefix(path, "../internal"):
				return nil
			}
			text, err := os.ReadFile(path)
			for _, page := range name.FindAllString(string(text), -1) {
				if strings.HasSuffix(path, "hostile_test.go") || strings.HasSuffix(page, "/x.md") {
					continue // A file of a made-up repository.
				}
				assert.FileExists(t, filepath.Join("..", page), path)
			}
			return err
		})
		require.NoError(t, err)
	}
}

// TestPagesAreShort holds that a page can be read in one go, and that it begins with an
// example: before its second chapter.
func TestPagesAreShort(t *testing.T) {
	t.Parallel()
	for _, page := range writtenPages(t) {
		data, err := os.ReadFile(page)
		require.NoError(t, err)
		text := string(data)
		assert.LessOrEqual(t, strings.Count(text, "\n"), 150, "%s: split it, or say less", page)
		chapters := strings.SplitN(text, "\n## ", 3)
		assert.Contains(t, strings.Join(chapters[:min(2, len(chapters))], ""), "\n```",
			"%s begins without an example", page)
	}
}

// TestDocsAreFew counts words: of the pages that everybody reads, and of all pages.
func TestDocsAreFew(t *testing.T) {
	t.Parallel()
	words := func(file string) int {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return len(strings.Fields(string(text)))
	}
	assert.LessOrEqual(t, words("../README.md"), 700)
	assert.LessOrEqual(t, words("../CONTRIBUTING.md"), 1200)
	all := words("../CONTRIBUTING.md") + words("../CHANGELOG.md")
	for _, page := range docPages(t) {
		all += words(page)
	}
	assert.LessOrEqual(t, all, 33_000, "say it once, and link to it")
}

// TestTermsAreLinked holds that a page links to what a candidate, an incumbent or a baseline
// is where it first says the word in its text.
func TestTermsAreLinked(t *testing.T) {
	t.Parallel()
	elsewhere := regexp.MustCompile(`\[[^\]]*\]\([^)]*\)`)
	made := regexp.MustCompile(`(?s)<!-- Generated by .*?<!-- end -->|<img [^>]*>`)
	linked := 0
	for _, page := range docPages(t) {
		data, err := os.ReadFile(page)
		require.NoError(t, err)
		if strings.HasSuffix(page, "/terms.md") || strings.HasPrefix(string(data), "<!-- Generated: ") {
			continue
		}
		text := made.ReplaceAllString(withoutCode(string(data)), "")
		text = mdHeading.ReplaceAllString(inlineCode.ReplaceAllString(text, ""), "")
		for _, term := range []string{"candidate", "incumbent", "baseline"} {
			anchor := "terms.md#" + term + ")"
			prose := elsewhere.ReplaceAllStringFunc(text, func(link string) string {
				if strings.HasSuffix(link, anchor) {
					return "[LINKED]"
				}
				return ""
			})
			first := regexp.MustCompile(`(?i)\[LINKED\]|\b` + term + `s?\b`).FindString(prose)
			if first == "" {
				continue
			}
			linked++
			assert.Equal(t, "[LINKED]", first, "%s says %s without a link to %s", page, term, anchor)
		}
	}
	assert.Greater(t, linked, 30)
}
