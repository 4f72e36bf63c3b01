package githubtest

import (
	"net/http"
	"slices"
	"strings"
)

func listLabels(s *State, r *http.Request) (reply, error) {
	return listed(r, s.labels(s.Labels))
}

func createLabel(s *State, r *http.Request) (reply, error) {
	var asked struct{ Name, Color, Description string }
	if decode(r, &asked); asked.Name == "" {
		return reply{}, unprocessable("name is missing")
	}
	if slices.ContainsFunc(s.Labels, func(name string) bool { return strings.EqualFold(name, asked.Name) }) {
		return reply{}, unprocessable("Label name already_exists")
	}
	s.Labels = append(s.Labels, asked.Name)
	return reply{status: http.StatusCreated, body: s.label(asked.Name)}, nil
}
