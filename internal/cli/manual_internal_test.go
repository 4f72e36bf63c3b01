package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// TestEveryCommandHasAManualPage with what its `--help` has.
func TestEveryCommandHasAManualPage(t *testing.T) {
	t.Parallel()
	files := manual("1.2.3", "2026-01-02")
	pages := 0
	for name := range files {
		if strings.HasPrefix(name, "man/") {
			pages++
		}
	}
	for _, root := range trees() {
		visible(root, func(cmd *cobra.Command) {
			pages--
			page := string(files["man/man1/"+pageName(cmd)+".1"])
			require.NotEmpty(t, page, cmd.CommandPath())
			assert.Contains(t, page, ".SH NAME\n"+escaped(pageName(cmd))+` \- `+roff(cmd.Short)+"\n")
			cmd.Flags().VisitAll(func(flag *pflag.Flag) {
				if !flag.Hidden {
					assert.Contains(t, page, bold("--"+flag.Name), cmd.CommandPath())
				}
			})
			for _, sub := range cmd.Commands() {
				assert.Equal(t, sub.IsAvailableCommand(), strings.Contains(page, "\n"+bold(pageName(sub))+"(1)"), "%s in %s", sub.Name(), cmd.CommandPath())
			}
		})
	}
	assert.Zero(t, pages, "pages of commands that nobody sees")
}

// TestNothingOfAPageIsAMacro: only what the generator wrote begins a request, and
// no text reads as an escape.
func TestNothingOfAPageIsAMacro(t *testing.T) {
	t.Parallel()
	cmd := &cobra.Command{
		Use: "x", Short: `ends in \fB`, Run: func(*cobra.Command, []string) {},
		Long: ".so /etc/passwd\n'br\n\n  .nf and \\n\n\nit's `a-b`\n\n\tmake install", Example: "  .TH x -y",
	}
	cmd.Flags().StringP("out", "o", "here", ".sp 9 `DIR`")
	page := manualPage(cmd, "1", "2026-01-02")
	known, strayEscape := regexp.MustCompile(`\\(?:[-e&]|f[BIR]|\([a-z]{2})`), regexp.MustCompile(`\\.?`)
	for line := range strings.SplitSeq(page, "\n") {
		if strings.HasPrefix(line, ".") {
			assert.Regexp(t, `^\.(TH "X" 1 2026-01-02 "autoloop 1" Autoloop|SH [A-Z ]+|SS [\w ]+|PP|TP|br|nf|fi|RS 2|RE)$`, line)
		}
		assert.NotRegexp(t, `^'`, line)
		assert.Empty(t, strayEscape.FindString(known.ReplaceAllString(line, "")), line)
	}
	assert.Contains(t, page, "\\&.so /etc/passwd\n\\(aqbr\n")
	assert.Contains(t, page, "\n\\&.nf and \\en\n", "what is indented stays as it is")
	assert.Contains(t, page, "\nit\\(aqs \\fBa\\-b\\fR\n")
	assert.Contains(t, page, "\nmake install\n")
	assert.Contains(t, page, ".TP\n\\fB\\-o\\fR, \\fB\\-\\-out\\fR \\fIDIR\\fR\n\\&.sp 9 DIR (default here)\n")
	assert.Contains(t, page, `ends in \efB`)
}

// TestManualPagesAreWithoutFault in the eyes of a program that checks such pages.
func TestManualPagesAreWithoutFault(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("mandoc")
	if err != nil {
		long.Missing(t, "mandoc")
	}
	args := []string{"-T", "lint", "-W", "warning"}
	dir := t.TempDir()
	for name, text := range manual("1.2.3", "2026-01-02") {
		if strings.HasPrefix(name, "man/") {
			file := filepath.Join(dir, filepath.Base(name))
			require.NoError(t, os.WriteFile(file, text, 0o600))
			args = append(args, file)
		}
	}
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Empty(t, string(out))
}
