package tests

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// The tables of what differs between the emulator and GitHub. A test asks the
// emulator for each of them, so that a later one that has more is noticed.
// One thing is left as it is: the emulator lists all comments of an issue,
// whatever time it is asked from, and the binaries must not hear one twice.

var (
	pullsPath    = regexp.MustCompile(`^` + atRepository + `/pulls(/\d+)?$`)
	statusPath   = regexp.MustCompile(`^` + atRepository + `/commits/([0-9a-f]{40})/status$`)
	reviewsPath  = regexp.MustCompile(`^` + atRepository + `/pulls/(\d+)/reviews$`)
	commentsPath = regexp.MustCompile(`^` + atRepository + `/issues/comments$`)
)

// answers are what the front says in the emulator's place: for what the
// emulator does not have and the binary needs. Everything else is passed on.
func answers() []answering {
	return []answering{
		{statusPath, "the emulator has check runs and no commit statuses; without an answer nothing would ever be " +
			"green, since what cannot be read is pending", (*front).noStatuses},
		{
			commentsPath, "the emulator takes `comments` for the number of an issue; the answer is made of its " +
				"comments on each",
			(*front).allComments,
		},
	}
}

// answering is a request that the front answers, with the reason why.
type answering struct {
	path   *regexp.Regexp
	reason string
	answer func(f *front, r *http.Request) any
}

// absence is a request that the emulator answers as GitHub answers of things
// that are not there.
type absence struct {
	method string
	path   *regexp.Regexp
	reason string
}

// absent are the requests of the binaries to which the emulator answers that
// there is no such thing, and why that is well. Any other one fails the test.
func absent() []absence {
	return []absence{
		{
			http.MethodPost, regexp.MustCompile(`/comments/\d+/reactions$`),
			"the emulator has no reactions; to a comment that is gone the binary gives none either",
		},
		{
			http.MethodGet, regexp.MustCompile(`/actions/variables/\w+$`),
			"the emulator has no variables; GitHub says the same of one that is not set",
		},
		{
			http.MethodGet, regexp.MustCompile(`/rules/branches/main$`),
			"the emulator has no rulesets, and neither have old servers",
		},
		{
			http.MethodGet, regexp.MustCompile(`/collaborators/mallory/permission$`),
			"GitHub says `read` of strangers, and the emulator that they are no collaborators",
		},
	}
}

// fix is a change to what the emulator answers, with its reason.
type fix struct {
	path   *regexp.Regexp
	reason string
	change func(f *front, path string, value any) any
}

// fixed are the answers that the front changes.
func fixed() []fix {
	return []fix{
		{
			pullsPath, "the emulator reads the heads of a pull request once, when it is opened; GitHub follows the " +
				"branches",
			(*front).heads,
		},
		{reviewsPath, "on GitHub each comment on lines belongs to a review", (*front).reviewsOfLines},
		{
			regexp.MustCompile(`/check-runs/\d+/annotations$`),
			"GitHub answers the list alone, the emulator an object around it", func(_ *front, _ string, value any) any {
				whole, _ := value.(map[string]any)
				return whole["check_annotations"]
			},
		},
	}
}

// noStatuses is the combined status of a commit without any.
func (f *front) noStatuses(r *http.Request) any {
	commit := statusPath.FindStringSubmatch(r.URL.Path)[1]
	return map[string]any{"state": "pending", "sha": commit, "total_count": 0, "statuses": []any{}}
}

// allComments are those on all issues and pull requests since a time.
func (f *front) allComments(r *http.Request) any {
	since, err := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	if err != nil {
		f.t.Errorf("%s: %v", r.URL, err)
	}
	all := []map[string]any{}
	for number := 1; ; number++ {
		var some []map[string]any
		if err := f.mirror.call(http.MethodGet, fmt.Sprintf("issues/%d/comments?per_page=100", number), nil,
			&some); err != nil {
			var refused *restError
			if !errors.As(err, &refused) || refused.status != http.StatusNotFound {
				f.t.Errorf("%s: %v", r.URL, err)
			}
			return all // there are no more issues
		}
		if len(some) == 100 {
			f.t.Errorf("%s: the front reads one page", r.URL)
		}
		for _, c := range some {
			updated, err := time.Parse(time.RFC3339, fmt.Sprint(c["updated_at"]))
			if err == nil && !updated.Before(since) {
				all = append(all, c)
			}
		}
	}
}

// reviewsOfLines adds a review without a text for each comment on lines.
func (f *front) reviewsOfLines(path string, value any) any {
	reviews, _ := value.([]any)
	var lines []map[string]any
	number := reviewsPath.FindStringSubmatch(path)[1]
	if err := f.mirror.call(http.MethodGet, "pulls/"+number+"/comments?per_page=100", nil, &lines); err != nil {
		f.t.Errorf("%s: %v", path, err)
	}
	for _, c := range lines {
		reviews = append(reviews,
			map[string]any{
				"id": 1, "body": "", "state": "COMMENTED", "submitted_at": c["created_at"],
				"user": c["user"],
			})
	}
	return reviews
}

// heads fills in the commits of pull requests from git.
func (f *front) heads(_ string, value any) any {
	list, is := value.([]any)
	if !is {
		list = []any{value}
	}
	for _, entry := range list {
		f.fill(entry)
	}
	return value
}

func (f *front) fill(entry any) {
	pull, _ := entry.(map[string]any)
	number, _ := strconv.Atoi(fmt.Sprint(pull["number"]))
	for _, side := range []string{"head", "base"} {
		of, _ := pull[side].(map[string]any)
		repository, _ := of["repo"].(map[string]any)
		commit := f.mirror.refs[fmt.Sprintf("refs/heads/%v", of["ref"])]
		if ended := f.ended[number]; ended != "" && side == "head" {
			commit = ended
		}
		if commit != "" && repository["full_name"] == emulatedRepository {
			of["sha"] = commit
		}
	}
}
