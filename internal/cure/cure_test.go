package cure_test

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/cure"
	"github.com/org/autoloop/internal/misuse"
)

// frozen is what each code means. A line is never changed or removed: what a code
// is found under in an old log must be what it meant then.
var frozen = map[cure.Code]cure.Code{
	"AL0101": cure.Interrupted, "AL0102": cure.CITimeout, "AL0103": cure.CIFixes, "AL0104": cure.UnknownCost,
	"AL0201": cure.Unreadable, "AL0202": cure.Disagree, "AL0203": cure.LeaseLost,
	"AL0301": cure.PushRefused, "AL0302": cure.WorkflowRights,
	"AL0401": cure.NoMetric, "AL0402": cure.Independent, "AL0403": cure.NoIsolation, "AL0404": cure.Secret,
	"AL0405": cure.ToolRefused, "AL0406": cure.BadAnswer, "AL0407": cure.NoAgent,
	"AL0501": cure.JudgeSilent, "AL0502": cure.GraderSilent, "AL0503": cure.MergeConflict, "AL0504": cure.SnapshotAltered,
	"AL0601": cure.BundleRefused, "AL0602": cure.NoStart,
	"AL0701": cure.NotVisible, "AL0702": cure.NoPermission, "AL0703": cure.WorkflowNotStarted, "AL0704": cure.RateLimit,
	"AL0901": cure.Fault,
}

func TestCodesKeepTheirMeaning(t *testing.T) {
	t.Parallel()
	for text, code := range frozen {
		assert.Equal(t, text, code)
	}
	var listed []cure.Code
	for _, entry := range cure.All() {
		listed = append(listed, entry.Code)
		assert.Contains(t, frozen, entry.Code, "enter the new code")
	}
	assert.Len(t, listed, len(frozen), "every code has its page")
	assert.IsIncreasing(t, listed)
}

func TestPagesAreWhole(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^AL\d{4}$`)
	titles := map[string]bool{}
	for _, entry := range cure.All() {
		assert.Regexp(t, form, string(entry.Code))
		assert.NotEmpty(t, entry.Title, entry.Code)
		assert.NotContains(t, entry.Title, "#", entry.Code)
		assert.False(t, titles[entry.Title], "two pages have the title %q", entry.Title)
		titles[entry.Title] = true
		assert.NotEmpty(t, entry.When, entry.Code)
		assert.NotEmpty(t, entry.Cure, entry.Code)
		assert.Contains(t, entry.Example, "(iterate explain "+string(entry.Code)+")", "the example is a message as it is printed")
		assert.LessOrEqual(t, strings.Count(entry.Markdown(1), "\n"), 60, entry.Code)
		for _, other := range regexp.MustCompile(`AL\d{4}`).FindAllString(entry.Markdown(1), -1) {
			assert.Contains(t, frozen, cure.Code(other), "%s names a code that does not exist", entry.Code)
		}
	}
}

func TestAnErrorEndsWithItsCode(t *testing.T) {
	t.Parallel()
	err := cure.RateLimit.Errorf("read %s: %w", "issues", fs.ErrNotExist)
	require.EqualError(t, err, "read issues: file does not exist (iterate explain AL0704)")
	require.ErrorIs(t, err, fs.ErrNotExist)
	var coded *cure.Error
	require.ErrorAs(t, fmt.Errorf("outside: %w", err), &coded)
	assert.Equal(t, cure.RateLimit, coded.Code)
	require.NoError(t, cure.RateLimit.Wrap(nil))
	require.EqualError(t, cure.NoStart.Wrap(errors.New("x")), "x (iterate explain AL0602)")

	var usage *misuse.Error
	require.ErrorAs(t, misuse.New(err), &usage, "a mistake of the caller stays one")
	assert.ErrorAs(t, cure.NoAgent.Wrap(misuse.Errorf("x")), &usage)
}
