package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/org/autoloop/internal/files"
)

const (
	// maxDiffed bounds a file of which lines are compared, maxDiff the whole diff.
	maxDiffed = 1 << 20
	maxDiff   = 2 << 20
)

// Changes compares the sandbox with its template: a unified diff of files, links and
// special files, as git would print it, without what package managers and caches leave.
// It is cut, and says so, when it is too long.
func (b *Box) Changes(ctx context.Context) (string, error) {
	now, err := readLeft(ctx, b.root)
	if err != nil {
		return "", err
	}
	template, err := os.OpenRoot(b.From.Dir)
	if err != nil {
		return "", err
	}
	defer template.Close()
	noDirectories := func(m Manifest) Manifest { return slices.DeleteFunc(slices.Clone(m), Entry.IsDir) }
	var out strings.Builder
	left := 0
	for _, c := range files.Compare(noDirectories(b.From.Manifest), noDirectories(now)) {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if left++; generated(c.Path) {
			continue
		}
		if text := diffOf(template, b.root, c); out.Len()+len(text) <= maxDiff {
			out.WriteString(text)
			left--
		}
	}
	if left > 0 {
		fmt.Fprintf(&out, "# %d more changed files are left out: of package managers and caches, or beyond %d bytes\n",
			left, maxDiff)
	}
	return out.String(), nil
}

// generated are directories that package managers and caches fill: listed as
// changes, of no use in a diff.
func generated(name string) bool {
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		switch part {
		case "node_modules", ".venv", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".gradle",
			".npm", ".cache":
			return true
		}
	}
	return false
}

// diffOf is a unified diff of one path.
func diffOf(was, is *os.Root, c files.Difference) string {
	var out strings.Builder
	from, to := quoted("a/"+c.Path), quoted("b/"+c.Path)
	fmt.Fprintf(&out, "diff --git %s %s\n", from, to)
	switch old, now := gitMode(c.Before), gitMode(c.After); {
	case old == "":
		fmt.Fprintf(&out, "new file mode %s\n", now)
		from = "/dev/null"
	case now == "":
		fmt.Fprintf(&out, "deleted file mode %s\n", old)
		to = "/dev/null"
	case old != now:
		fmt.Fprintf(&out, "old mode %s\nnew mode %s\n", old, now)
	}
	before, readOld := content(was, c.Before)
	after, readNew := content(is, c.After)
	switch {
	case readOld && readNew:
		text := diff.Diff(from, before, to, after)
		_, text, _ = bytes.Cut(text, []byte("\n")) // its own first line
		out.Write(text)
	case c.Before == nil || c.After == nil || c.Before.SHA256 != c.After.SHA256 || c.After.SHA256 == "":
		fmt.Fprintf(&out, "Binary files %s and %s differ\n", from, to)
	}
	return out.String()
}

// content is the text of one side; false when it is no text of a size that can
// be shown.
func content(root *os.Root, e *Entry) ([]byte, bool) {
	switch {
	case e == nil:
		return nil, true
	case e.IsLink():
		return []byte(e.Target), true
	case !e.IsFile() || e.SHA256 == "" || e.Size > maxDiffed:
		return nil, false
	}
	data, err := files.ReadRegular(root, e.Path, maxDiffed+1)
	if err != nil || len(data) > maxDiffed || bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return nil, false
	}
	return data, true
}

// gitMode is a mode as git writes it, "" of nothing; what git has no mode for is 000000.
func gitMode(e *Entry) string {
	switch {
	case e == nil:
		return ""
	case e.IsLink():
		return "120000"
	case !e.IsFile():
		return "000000"
	case e.Mode&0o100 != 0:
		return "100755"
	default:
		return "100644"
	}
}

// quoted is a path for a diff's header, on one line whatever it holds.
func quoted(name string) string {
	if text := strconv.Quote(name); text != `"`+name+`"` {
		return text
	}
	return name
}
