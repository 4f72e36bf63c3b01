package program

import (
	"errors"
	"fmt"
)

// PullRequest says how a program's pull request is opened.
type PullRequest struct {
	// Title is a template with {name}, {type}, {scope} and {summary}; "" is the
	// usual title. Type is what {type} stands for.
	Title, Type                  string
	Labels, Reviewers, Assignees []string
	// WhenReady is "stop" or "continue": what happens while a person has marked it
	// ready for review.
	WhenReady string
}

func setPullRequest(p *Program, v value) error {
	if v.kind != mapping {
		return errors.New("give a map such as `{labels: [performance], reviewers: [octocat]}`")
	}
	given := map[string]bool{}
	for _, f := range v.fields {
		if given[f.key] {
			return fault{f.line, fmt.Errorf("`%s` is given twice; keep one", f.name)}
		}
		given[f.key] = true
		var err error
		switch f.key {
		case "title":
			p.PullRequest.Title, err = f.oneLine("a title such as `{type}({scope}): {summary}`")
		case "type":
			p.PullRequest.Type, err = f.oneLine("a word such as `perf`")
		case "labels":
			p.PullRequest.Labels, err = f.texts("performance")
		case "reviewers":
			p.PullRequest.Reviewers, err = f.texts("octocat, org/team")
		case "assignees":
			p.PullRequest.Assignees, err = f.texts("octocat")
		case "when-ready":
			p.PullRequest.WhenReady, err = f.oneOf("stop", "continue")
		default:
			p.unknown(f, " of `pull-request`", "title", "type", "labels", "reviewers", "assignees", "when-ready")
		}
		if err != nil {
			return fault{f.line, fmt.Errorf("`%s`: %w", f.name, err)}
		}
	}
	return nil
}

func (v value) texts(example string) ([]string, error) {
	items, err := v.words(example)
	if err != nil {
		return nil, err
	}
	list := make([]string, len(items))
	for i, item := range items {
		if list[i], err = item.oneLine("a text"); err != nil {
			return nil, err
		}
	}
	return list, nil
}
